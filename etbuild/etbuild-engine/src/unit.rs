//! One recipe for one target: what a binary is built from.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use etbuild_recipe::Recipe;
use etbuild_target::Target;

use crate::db::{CheckpointFolder, DataFile};
use crate::query::{FileOptions, MeasureOptions, PlanOptions};

/// What each method of a program is read from, by the method's name.
pub type Archives = BTreeMap<String, ModelSource>;

/// What a method is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelSource {
    /// A `.pt2` archive, whose only method it is.
    Archive(DataFile),
    /// A checkpoint, of whose program it is the method of this name.
    Checkpoint(CheckpointFolder, &'static str),
}

/// A recipe with the options of one target chosen. Queries take what they read from it; what enters a stage's key is
/// written out in the stage's query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The recipe.
    pub recipe: Arc<Recipe>,
    /// The target.
    pub target: Arc<Target>,
    /// What each method is read from.
    pub archives: Archives,
    /// The verification data.
    pub verify: Option<DataFile>,
    /// What measuring the loss of quantization reads.
    pub measure: MeasureOptions,
    /// What the memory planner reads.
    pub plan: PlanOptions,
    /// What goes into the program file besides the model.
    pub file: FileOptions,
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

    /// The method, where its name is needed to tell stages apart: those that run once for each of several methods.
    pub fn part<'m>(&self, method: &'m str) -> Option<&'m str> {
        (self.archives.len() > 1).then_some(method)
    }

    /// The folder of the unit's results, below the output folder.
    pub fn folder(&self) -> PathBuf {
        PathBuf::from(self.name()).join(self.target.name())
    }
}

impl Hash for Unit {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.name(), self.target.name(), &self.archives, self.verify).hash(state);
    }
}
