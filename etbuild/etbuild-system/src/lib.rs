//! The outside world as one trait, so that a function's signature says whether it can touch it.
//!
//! Everything that etbuild reads or does outside its own memory goes through [`System`]: [`RealSystem`] in the
//! command, [`MemorySystem`] in tests. The content store is the one exception: it owns its folder.
//!
//! ```
//! use std::path::Path;
//!
//! use etbuild_system::{MemorySystem, System};
//!
//! let system = MemorySystem::with_files([("recipe.yaml", "etbuild: 1")]).with_variable("MODELS", "/models");
//! assert_eq!(system.read(Path::new("recipe.yaml")).unwrap(), b"etbuild: 1");
//! assert_eq!(system.variable("MODELS").as_deref(), Some("/models"));
//! assert!(system.read(Path::new("absent")).is_err());
//! ```

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
