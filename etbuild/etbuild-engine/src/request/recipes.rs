//! A recipe file becomes typed recipes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use etbuild_recipe::{Model, ModelKind, Override, Recipe, RecipeFiles, is_on_hub, load_from, starter};

use super::first_look::{Subject, subject};
use super::hub;
use crate::input::Db;

/// The content of a recipe file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipes {
    /// The recipes.
    pub instances: Vec<Recipe>,
    /// The file, and then the extended files.
    pub files: Arc<[PathBuf]>,
}

/// The recipes of a file, with `--set` applied and `matrix:` expanded, or every mistake in the file.
#[salsa::tracked(returns(clone))]
pub fn recipes(db: &dyn Db, path: PathBuf, overrides: Vec<Override>) -> Result<Arc<Recipes>, Arc<[Diagnostic]>> {
    let loaded = load_from(&TrackedFiles(db), &path, &overrides).map_err(Arc::<[Diagnostic]>::from)?;
    let instances = loaded.instances.into_iter().map(|recipe| hub::located(db.world(), recipe));
    let instances: Vec<Recipe> = instances.collect::<Result<_, _>>().map_err(Arc::<[Diagnostic]>::from)?;
    let source = match instances.first().map(|recipe| &recipe.model) {
        Some(Model::Checkpoint(folder)) if is_on_hub(&path) => folder.path.clone(),
        _ => path.clone(),
    };
    let read = loaded.files.into_iter().map(|(file, _)| file);
    let files = std::iter::once(source).chain(read.filter(|file| *file != path)).collect();
    Ok(Arc::new(Recipes { instances, files }))
}

/// Files as inputs of the database, so that a recipe depends on the extended files.
struct TrackedFiles<'db>(&'db dyn Db);

impl RecipeFiles for TrackedFiles<'_> {
    fn text(&self, path: &Path) -> Result<Arc<str>, Diagnostic> {
        let kind = match subject(self.0.world().system(), path)? {
            Subject::Recipe => return self.0.text_file(path).text(self.0),
            Subject::Archive => ModelKind::Pt2,
            Subject::Checkpoint => ModelKind::Checkpoint,
            Subject::Python(..) => ModelKind::Python,
        };
        // The recipe stands beside a model of this machine.
        let model = match path.file_name() {
            Some(_) if is_on_hub(path) => path.to_string_lossy(),
            name => name.map_or(".".into(), OsStr::to_string_lossy),
        };
        Ok(starter(&kind.recipe_name(path), kind, &model).into())
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.0.world().system().variable(name)
    }
}
