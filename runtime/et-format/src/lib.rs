//! Readers of ExecuTorch's program file (`.pte`), data file (`.ptd`) and bundled program (`.bpte`), in place.
//!
//! The program's schema is `schema/program.fbs` of ExecuTorch 1.5, file identifier `ET12`. Every view is a position in
//! the file; an absent field reads as its schema default, and a field or list that exceeds the file is
//! [`Error::InvalidProgram`](et_core::Error::InvalidProgram), the only error of an access. With feature `write`, a host
//! writes these files from plain data.
//!
//! ```
//! use et_format::ProgramFile;
//!
//! let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/add.pte"));
//! let program = ProgramFile::parse(bytes)?.program();
//! assert_eq!(program.execution_plan(0)?.name()?, "forward");
//! # Ok::<(), et_core::Error>(())
//! ```
#![cfg_attr(not(feature = "write"), no_std)]
#![forbid(unsafe_code)]

mod bundled;
mod file;
mod flat_tensor;
mod flatbuffer;
mod header;
mod instruction;
mod plan;
mod program;
mod tensor;
mod value;
mod view;
#[cfg(feature = "write")]
pub mod write;

pub use bundled::{
    BUNDLE_IDENTIFIER, BundledCase, BundledProgram, BundledSlot, BundledSuite, BundledTensor, BundledValue,
};
pub use file::{INPUTS_KEY, LEAST_KEY, ProgramFile};
pub use flat_tensor::{DATA_IDENTIFIER, DataEntry, DataFile, DataLayout};
pub use flatbuffer::{Table, Tables};
pub use header::{ExtendedHeader, IDENTIFIER};
pub use instruction::{Frame, FrameList, Instruction};
pub use plan::{
    BackendDelegate, Chain, CompileSpec, ContainerMetadata, DataLocation, DataReference, DeviceBuffer, ExecutionPlan,
    Operator,
};
pub use program::{Buffer, DataSegment, InlineData, NamedData, Program, SubsegmentOffsets};
pub use tensor::{Allocation, ExtraTensorInfo, ShapeDynamism, Tensor, TensorLocation};
pub use value::{EValue, Kind};
pub use view::{List, View};
