//! A recipe file becomes typed recipes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use etbuild_recipe::{Override, Recipe, RecipeFiles, load_from};

use crate::db::Db;

/// What a recipe file says, with `--set` applied and `matrix:` expanded, or every mistake in it.
#[salsa::tracked(returns(clone))]
pub fn recipes(db: &dyn Db, path: PathBuf, overrides: Vec<Override>) -> Result<Arc<[Recipe]>, Arc<[Diagnostic]>> {
    let loaded = load_from(&TrackedFiles(db), &path, &overrides);
    loaded.map(|loaded| loaded.instances.into()).map_err(Into::into)
}

/// Files as inputs of the database, so that a recipe depends on what it extends.
struct TrackedFiles<'db>(&'db dyn Db);

impl RecipeFiles for TrackedFiles<'_> {
    fn text(&self, path: &Path) -> Result<Arc<str>, Diagnostic> {
        self.0.text_file(path).text(self.0)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.0.world().system().variable(name)
    }
}
