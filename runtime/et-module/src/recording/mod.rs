//! Recordings of executions: made by an observer, written to a file on a device, read at the desk.

mod file;
mod recorded;
mod recorder;

pub use recorded::{Event, MethodFacts, Recording, Run, Task};
pub use recorder::Recorder;
