//! The host contract of a backend: which nodes the backend accepts, and how the backend lowers a partition.
//!
//! A [`Backend`] judges single nodes. The partitioner groups accepted nodes into partitions, and the backend lowers
//! each partition to a [`Blob`]: bytes in the program file that the backend's device crate executes. What backends read of a
//! graph is here too: arguments by position ([`Call`]), and constants as numbers.

mod backend;
mod blob;
mod call;
mod clamp;
mod compiler;
mod constant;
mod gpu;
pub mod int8;
mod npu;
mod refusal;
mod scratch;
mod target;

pub use backend::{Backend, Simulation};
pub use blob::{ALIGNMENT, Blob, Content, DeviceReport, Patches, Stored, Weights};
pub use call::{ArgumentError, Call, Geometry, dim, image_sizes};
pub use clamp::clamp_limits;
pub use compiler::{Compiler, Search};
pub use constant::{ByteWeights, constant_of, dequantizes_constants, floats, integers, is_known};
pub use gpu::{GpuDispatch, GpuProgram, GpuRole, GpuScratch, GpuStorage, GpuTensor};
pub use npu::{NpuEstimate, NpuOperator};
pub use refusal::{Refusal, RefusalKind};
pub use scratch::{Life, ScratchPlan, fill_memory, plan_scratch};
pub use target::{EthosU, GpuApi, GpuFacts, MemoryFacts, NpuFacts, TargetFacts};
