//! A recipe file becomes typed recipes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_recipe::{Name, Override, Recipe, RecipeFiles, load_from, starter_for};

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
    let read = loaded.files.into_iter().map(|(file, _)| file);
    let files = std::iter::once(path.clone()).chain(read.filter(|file| *file != path)).collect();
    Ok(Arc::new(Recipes { instances: loaded.instances, files }))
}

/// Files as inputs of the database, so that a recipe depends on the extended files.
struct TrackedFiles<'db>(&'db dyn Db);

impl RecipeFiles for TrackedFiles<'_> {
    fn text(&self, path: &Path) -> Result<Arc<str>, Diagnostic> {
        if path.extension().is_some_and(|extension| extension == "pt2") {
            return default_recipe(self.0, path, "pt2");
        }
        if self.0.world().system().is_dir(path) {
            return default_recipe(self.0, path, "checkpoint");
        }
        self.0.text_file(path).text(self.0)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.0.world().system().variable(name)
    }
}

/// The recipe of a model without a recipe: the model's name, and default options.
fn default_recipe(db: &dyn Db, model: &Path, key: &str) -> Result<Arc<str>, Diagnostic> {
    if !db.world().system().is_dir(model) {
        let exists = db.world().system().stamp(model);
        exists.map_err(|error| {
            Diagnostic::error(Code::FileMissing, format!("there is no model `{}`: {error}", model.display()))
        })?;
    }
    let stem = model.file_stem().unwrap_or_default().to_string_lossy();
    let allowed = |character: char| if character.is_ascii_alphanumeric() { character } else { '-' };
    let name = Name::new(stem.chars().map(allowed).collect::<String>().trim_matches('-'));
    let name = name.ok_or_else(|| {
        let message = format!("`{}` has no name that a recipe could have", model.display());
        Diagnostic::error(Code::BadValue, message).help("write a recipe with `etbuild init`")
    })?;
    let file = model.file_name().unwrap_or_default().to_string_lossy();
    Ok(starter_for(&name, key, &file).into())
}
