//! Gives parts of lowered programs to engines.
//!
//! Each engine in turn judges every node that no engine before it took. Nodes that it takes are gathered into as few
//! partitions as keep the method's order possible; each becomes a graph of its own, which the engine lowers to a blob, and
//! a [`etbuild_ir::DelegateCall`] in the method. What nobody takes stays with the portable kernels.

mod carve;
mod gather;
mod judge;
mod keep;
mod levels;
mod order;
mod partition;
mod report;
mod trivial;

pub use keep::{InMemory, Keep};
pub use partition::{Partitioned, partition};
pub use report::{NodeReport, Place};
