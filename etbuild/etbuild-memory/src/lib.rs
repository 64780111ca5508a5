//! Memory planning: every value of a program gets a place in one of the target's memory banks.
//!
//! [`plan`] asks a [`Planner`] to lay out the values of each method, bank by bank: what does not fit in one bank goes
//! to the next. Values that are never in use at the same time share bytes; views that need no copy lie on what they are
//! views of. Every method is planned by itself, since a runtime loads and runs methods one by one. State that several
//! methods have under one name has the same place in the first arena of each: memory that they share.

mod bound;
mod error;
mod plan;
mod planner;
mod shared;

pub use bound::{MethodUsage, lower_bound, usage};
pub use error::{LiveTensor, MemoryError};
pub use plan::{Bank, DEFAULT_ALIGNMENT, Options, plan};
pub use planner::{Greedy, Item, Layout, Naive, PLANNERS, PlanRequest, Planner, find_planner};
