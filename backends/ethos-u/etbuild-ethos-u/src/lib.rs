//! The backend for Arm's Ethos-U NPUs on the host: lowers int8 partitions to TOSA, which Arm's compiler Vela makes command streams of.
//!
//! Vela is a program that users install; it runs in a process of its own. The integers of a partition are those of TOSA, which
//! [`Graph::evaluate`] computes on the host.

mod backend;
mod blob;
mod capability;
mod lower;
mod series;
mod tosa;
pub mod vela;

pub use backend::{BACKEND, Ethos};
pub use lower::{Lowered, Output, lower as lower_to_tosa};
pub use series::Series;
pub use tosa::{Array, Graph, Kind, TensorId, write};
