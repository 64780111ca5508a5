//! Looking without running: the state of every stage, and the files that a unit reads.

mod inputs;
mod plan;

pub use inputs::{inputs, known_inputs};
pub use plan::{PlanRow, PlanState, UnitPlan, plan};
