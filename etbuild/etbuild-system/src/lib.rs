//! The outside world as one trait, so that a function's signature says whether it can touch it.
//!
//! Everything that etbuild reads or does outside its own memory goes through [`System`]: [`RealSystem`] in the
//! command, [`MemorySystem`] in tests. The content store is the one exception: it owns its folder.

mod memory;
mod processes;
mod real;
mod slots;
mod system;

pub use memory::MemorySystem;
pub use processes::Processes;
pub use real::RealSystem;
pub use slots::{Slot, Slots};
pub use system::{FileStamp, Invocation, Outcome, System};
