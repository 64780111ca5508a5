//! Recordings of executions: made by an observer, written to a file on a device, read at the desk.

#[cfg(feature = "etdump")]
mod etdump;
mod file;
mod named;
mod recorded;
mod recorder;

#[cfg(feature = "etdump")]
pub use etdump::{Described, EtDump, as_recorded, etdump};
pub use named::{DELEGATE_CALL, Named, named};
pub use recorded::{Event, MethodFacts, Recording, Run, Task};
pub use recorder::{Keep, Recorder};

/// The alignment of a tensor in a debug buffer, for any type.
const TENSOR_ALIGNMENT: usize = 16;
