//! Looking after the store: counting, checking, removing.

mod clear;
mod collect;
mod limit;
mod roots;
mod statistics;
mod verify;
mod walk;

pub use collect::{GcPolicy, GcReport};
pub use roots::Root;
pub use statistics::Statistics;
pub use verify::Finding;
