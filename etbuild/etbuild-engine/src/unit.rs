//! One recipe for one target: the inputs of a binary.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etbuild_recipe::{Output, Recipe};
use etbuild_target::Target;

use crate::db::{DataFile, ModelSource};
use crate::query::{FileOptions, MeasureOptions, PlanOptions};

/// The source of each method of a program, by the method's name.
pub type Archives = BTreeMap<String, ModelSource>;

/// A recipe with the options of one target chosen. Queries take what they read from it; what enters a stage's key is
/// written out in the stage's query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The recipe's file, and then the extended files.
    pub files: Arc<[PathBuf]>,
    /// The recipe.
    pub recipe: Arc<Recipe>,
    /// The target.
    pub target: Arc<Target>,
    /// The source of each method.
    pub archives: Archives,
    /// The verification data.
    pub verify: Option<DataFile>,
    /// The inputs of measuring the loss of quantization.
    pub measure: MeasureOptions,
    /// The inputs of the memory planner.
    pub plan: PlanOptions,
    /// The parts of the program file besides the model.
    pub file: FileOptions,
}

impl Unit {
    /// The name of the recipe and of the binary.
    pub fn name(&self) -> &str {
        self.recipe.name.as_str()
    }

    /// `recipe@target`.
    pub fn instance(&self) -> String {
        format!("{}@{}", self.name(), self.target.name())
    }

    /// The recipe's file.
    pub fn source(&self) -> &Path {
        self.files.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// The method, where the name tells stages apart: for stages that run once for each of several methods.
    pub fn part<'m>(&self, method: &'m str) -> Option<&'m str> {
        (self.archives.len() > 1).then_some(method)
    }

    /// Whether the unit has a C library beside the binary.
    pub fn has_library(&self) -> bool {
        self.recipe.library.as_ref().is_some_and(|library| library.value)
    }

    /// Whether the binary has the program file inside.
    pub fn embeds_program(&self) -> bool {
        self.target.memory().is_some() || self.recipe.output == Output::Single
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
