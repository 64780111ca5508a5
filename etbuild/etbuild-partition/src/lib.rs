//! Partitioning: subgraphs of lowered programs become delegate calls.
//!
//! Backends judge nodes in order of preference; each sees the nodes that no earlier backend accepted. The accepted
//! nodes are gathered into as few partitions as the order of the method allows. Each partition is carved into a
//! graph, the backend lowers the graph to a blob, and a [`etbuild_ir::DelegateCall`] replaces the nodes. Portable
//! kernels run the remaining nodes.

#![deny(clippy::iter_over_hash_type, reason = "the order of a hash map reaches no result")]

mod carve;
mod dequantized;
mod gather;
mod join;
mod judge;
mod keep;
mod levels;
mod order;
mod partition;
mod readers;
mod report;
mod samples;
mod split;
mod tied;
mod trivial;
mod work;

pub use join::{Group, groups, join};
pub use keep::{InMemory, Keep};
pub use partition::{Partitioned, partition};
pub use report::{NodeReport, Place};
