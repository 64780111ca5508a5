//! Planners: layouts of the values of one method in one bank.

use std::fmt;
use std::hash::{Hash, Hasher};

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

impl fmt::Debug for dyn Planner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Planner({})", self.name())
    }
}

/// Planners are known by name.
impl PartialEq for dyn Planner {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Planner {}

impl Hash for dyn Planner {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

/// All planners, the default first.
pub static PLANNERS: &[&dyn Planner] = &[&Greedy, &Naive];

/// The planner with this name.
pub fn find_planner(name: &str) -> Option<&'static dyn Planner> {
    PLANNERS.iter().copied().find(|planner| planner.name() == name)
}
