//! The names of the classes of a program.

use crate::{Array, Class, ClassesError, Module, top_classes};

/// The key of the named data with the names of the classes, a line each.
pub const LABELS_KEY: &str = "etbuild.labels";

impl Module {
    /// The names of the classes that the program file states.
    pub fn labels(&self) -> Option<Vec<&str>> {
        let text = std::str::from_utf8(self.named_data(LABELS_KEY)?).ok()?;
        Some(text.lines().collect())
    }

    /// The most probable classes of each case of the first output, with the labels of the program file.
    ///
    /// # Errors
    /// As of [`top_classes`].
    pub fn classes(&self, first: Option<&Array>, count: usize) -> Result<Vec<Vec<Class>>, ClassesError> {
        let first = first.ok_or_else(|| ClassesError::NoScores("nothing".to_owned()))?;
        let labels = self.labels();
        top_classes(&first.view(), labels.as_deref(), count)
    }
}
