//! The outside world as a trait: the signature of a function shows whether the function has side effects.
//!
//! etbuild reads files, environment and clock, and starts processes, through [`System`] only: [`RealSystem`] in the
//! command, [`MemorySystem`] in tests. The store is the exception: it owns its folder.
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

pub mod host;
mod memory;
mod processes;
mod real;
mod serial;
mod slots;
mod system;

pub use memory::MemorySystem;
pub use processes::Processes;
pub use real::RealSystem;
pub use slots::{Slot, Slots};
pub use system::{FileStamp, Input, Invocation, Outcome, QUIET, SERIAL_WAIT, System};
