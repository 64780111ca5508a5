//! Planners: how the values of a method share one bank.

mod greedy;
mod naive;
mod request;

pub use greedy::Greedy;
pub use naive::Naive;
pub use request::{Item, Layout, PlanRequest};

/// A way to lay out values in a bank.
pub trait Planner: Sync {
    /// The name in recipes.
    fn name(&self) -> &'static str;
    /// Places for the items; equal requests get equal layouts.
    fn plan(&self, request: &PlanRequest) -> Layout;
}

/// Every planner, the default first.
pub static PLANNERS: &[&dyn Planner] = &[&Greedy, &Naive];

/// The planner with this name.
pub fn find_planner(name: &str) -> Option<&'static dyn Planner> {
    PLANNERS.iter().copied().find(|planner| planner.name() == name)
}
