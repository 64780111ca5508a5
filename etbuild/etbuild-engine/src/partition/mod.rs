//! Partitioning: parts of the program become calls of backends.

mod fallback;
mod join;
mod node_place;
mod query;
mod report;
mod weights;

pub use etbuild_backend::{DeviceReport, GpuProgram, NpuEstimate, Patches};
pub use fallback::{Fallback, FallbackReason};
pub use join::joined;
pub use node_place::{EngineRefusal, NodePlace, PORTABLE};
pub use query::{PartitionOptions, partitioned, revisions};
pub use report::{CallMemory, EngineReport, Layers, StoredValue};
