//! One recipe for one target: what a binary is built from.

use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use etbuild_recipe::Recipe;
use etbuild_target::Target;

use crate::db::DataFile;
use crate::query::PlanOptions;

/// A recipe with the options of one target chosen. Queries take what they read from it; what enters a stage's key is
/// written out in the stage's query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The recipe.
    pub recipe: Arc<Recipe>,
    /// The target.
    pub target: Arc<Target>,
    /// The model file.
    pub model: DataFile,
    /// The verification data.
    pub verify: Option<DataFile>,
    /// What the memory planner reads.
    pub plan: PlanOptions,
}

impl Unit {
    /// The recipe's name, which is also that of the binary.
    pub fn name(&self) -> &str {
        self.recipe.name.as_str()
    }

    /// `recipe@target`.
    pub fn instance(&self) -> String {
        format!("{}@{}", self.name(), self.target.name())
    }

    /// The folder of the unit's results, below the output folder.
    pub fn folder(&self) -> PathBuf {
        PathBuf::from(self.name()).join(self.target.name())
    }
}

impl Hash for Unit {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.name(), self.target.name(), self.model, self.verify).hash(state);
    }
}
