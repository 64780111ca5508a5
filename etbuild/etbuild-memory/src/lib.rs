//! Memory planning: every value of a program gets a place in a memory bank of the target.
//!
//! [`plan`] asks a [`Planner`] to lay out the values of each method, bank by bank: a value without room in one bank
//! goes to the next. Values whose lifetimes do not overlap share bytes; a view that needs no copy has the place of
//! its source. Methods are planned independently, since a runtime loads and runs methods separately. State with one
//! name in several methods has the same place in the first arena of each method: shared memory.
//!
//! ```
//! use etbuild_ir::{LoweredProgram, text};
//! use etbuild_memory::{Bank, Options, find_planner, plan, usage};
//!
//! let source = "etbuild-ir 1 lowered\nmethod forward\n  input %x: float32[4]\n  \
//!               %a: float32[4] = aten.relu.default(%x)\n  %b: float32[4] = aten.relu.default(%a)\n  return %b\n";
//! let (_, program) = text::parse(source, &mut |_| None).unwrap();
//! let program = LoweredProgram::verify(program).unwrap();
//! let planner = find_planner("greedy").unwrap();
//! let planned = plan(program, &Options { planner, banks: vec![Bank::unlimited("ram")] }).unwrap();
//! // Three values of 16 bytes, of which two live at a time.
//! assert_eq!(usage(&planned)["forward"].planned, 32);
//! ```

#![deny(clippy::iter_over_hash_type, reason = "the order of a hash map reaches no result")]

mod bound;
mod error;
mod items;
mod options;
mod plan;
mod planner;
mod shared;

pub use bound::{MethodUsage, lower_bound, usage};
pub use error::{LiveTensor, MemoryError};
pub use options::{Bank, DEFAULT_ALIGNMENT, Options};
pub use plan::plan;
pub use planner::{Greedy, Item, Layout, Naive, PLANNERS, PlanRequest, Planner, find_planner};
