//! Planners: layouts of the values of one method in one bank.

mod greedy;
mod naive;
mod request;

pub use greedy::Greedy;
pub use naive::Naive;
pub use request::{Item, Layout, PlanRequest};

/// A strategy for laying out values in a bank.
pub trait Planner: Sync {
    /// The name in recipes.
    fn name(&self) -> &'static str;
    /// Places the items. Equal requests get equal layouts.
    fn plan(&self, request: &PlanRequest) -> Layout;
}

/// All planners, the default first.
pub static PLANNERS: &[&dyn Planner] = &[&Greedy, &Naive];

/// The planner with this name.
pub fn find_planner(name: &str) -> Option<&'static dyn Planner> {
    PLANNERS.iter().copied().find(|planner| planner.name() == name)
}
