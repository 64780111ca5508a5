//! All steps from a recipe file to typed recipes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use etbuild_diagnostic::{Diagnostic, Span};
use etbuild_system::System;
use etbuild_yaml::{Node, Value, check_version, read_rest};

use crate::check::check;
use crate::extends::Extender;
use crate::file_path::normal;
use crate::matrix::expand;
use crate::merge::merge;
use crate::substitute::substitute;
use crate::{Override, Recipe, RecipeFiles, SystemFiles};

/// The keys that are gone when a recipe is typed: they say how files and values are put together.
const COMPOSITION: &[&str] = &["extends", "vars", "matrix"];

/// What a recipe file stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Loaded {
    /// The recipes: one, or one for each combination of its matrix.
    pub instances: Vec<Recipe>,
    /// Every file that was read, with its text, in the order of reading.
    pub files: Vec<(PathBuf, Arc<str>)>,
}

/// Reads a recipe from the files and variables of `system`.
///
/// # Errors
/// As [`load_from`].
pub fn load(system: &dyn System, path: &Path, overrides: &[Override]) -> Result<Loaded, Vec<Diagnostic>> {
    load_from(&SystemFiles(system), path, overrides)
}

/// Reads a recipe from `files`, and from nothing else.
///
/// # Errors
/// Every mistake that was found in the first recipe that has one, each with its place and a hint.
pub fn load_from(files: &dyn RecipeFiles, path: &Path, overrides: &[Override]) -> Result<Loaded, Vec<Diagnostic>> {
    let path = normal(path);
    let mut extender = Extender::new(files);
    let tree = extender.tree(&path, Span::file(path.display().to_string()))?;
    let tree = override_all(tree, overrides).map_err(|error| vec![error])?;
    check_version(&tree).map_err(|error| vec![error])?;
    let instances = expand(tree).map_err(|error| vec![error])?;
    let instances = instances.into_iter().map(|tree| typed(tree, files)).collect::<Result<_, _>>()?;
    Ok(Loaded { instances, files: extender.read })
}

/// The tree with every `--set` laid over it. A file that holds no map is left for the reader to refuse.
fn override_all(tree: Node, overrides: &[Override]) -> Result<Node, Diagnostic> {
    if !matches!(tree.value, Value::Map(_)) {
        return Ok(tree);
    }
    let place = tree.place.clone();
    let merged = overrides.iter().try_fold(tree, |tree, over| Ok(merge(tree, over.tree()?)))?;
    Ok(Node { place, ..merged })
}

/// One recipe, or its mistakes.
fn typed(tree: Node, files: &dyn RecipeFiles) -> Result<Recipe, Vec<Diagnostic>> {
    let recipe = read_rest::<Recipe>(&substitute(tree, files)?, COMPOSITION)?;
    let mistakes = check(&recipe);
    if mistakes.is_empty() { Ok(recipe) } else { Err(mistakes) }
}
