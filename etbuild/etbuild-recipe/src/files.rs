//! All that a recipe can read: texts of files and environment variables.

use std::path::Path;
use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use etbuild_system::System;

/// The inputs of reading a recipe. An implementation that records its answers knows every file and variable that was
/// read.
pub trait RecipeFiles {
    /// The text of a recipe file.
    ///
    /// # Errors
    /// The reason why the file is unreadable, without a place.
    fn text(&self, path: &Path) -> Result<Arc<str>, Diagnostic>;

    /// The value of an environment variable.
    fn variable(&self, name: &str) -> Option<String>;
}

/// The files and variables of a [`System`].
#[derive(Clone, Copy)]
pub struct SystemFiles<'a>(pub &'a dyn System);

impl RecipeFiles for SystemFiles<'_> {
    fn text(&self, path: &Path) -> Result<Arc<str>, Diagnostic> {
        etbuild_yaml::read_text(self.0, path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.0.variable(name)
    }
}
