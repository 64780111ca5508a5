//! Memory planning: every value of a program gets a place in a memory bank of the target.
//!
//! [`plan`] asks a [`Planner`] to lay out the values of each method, bank by bank: a value without room in one bank
//! goes to the next. Values whose lifetimes do not overlap share bytes; a view that needs no copy has the place of
//! its source. Methods are planned independently, since a runtime loads and runs methods separately. State with one
//! name in several methods has the same place in the first arena of each method: shared memory.

mod bound;
mod error;
mod plan;
mod planner;
mod shared;

pub use bound::{MethodUsage, lower_bound, usage};
pub use error::{LiveTensor, MemoryError};
pub use plan::{Bank, DEFAULT_ALIGNMENT, Options, plan};
pub use planner::{Greedy, Item, Layout, Naive, PLANNERS, PlanRequest, Planner, find_planner};
