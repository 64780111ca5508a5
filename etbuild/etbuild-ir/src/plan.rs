//! Planned programs: memory plans and their verifier.

mod alias;
mod memory;
mod program;
mod verify;

pub use alias::{aliases, copied_updates, is_elided};
pub use memory::{Allocation, Arena, MemoryPlan};
pub use program::PlannedProgram;
