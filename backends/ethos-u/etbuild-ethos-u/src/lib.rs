//! The backend for Arm's Ethos-U NPUs on the host: lowers int8 partitions to TOSA, and Arm's compiler Vela makes command streams.
//!
//! Users install Vela, which runs in a process of its own. [`Graph::evaluate`] computes the integers of a partition on the host, and [`delegate`]
//! executes Vela's command streams there.

mod backend;
mod blob;
mod capability;
mod lower;
mod model;
mod tosa;
pub mod vela;

pub use backend::{BACKEND, Ethos};
pub use et_problem::problem;
pub use lower::{Lowered, Output, lower as lower_to_tosa};
pub use model::delegate;
pub use tosa::{Array, Graph, Kind, TensorId, write};
