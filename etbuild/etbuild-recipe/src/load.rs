//! All steps from a recipe file to typed recipes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use etbuild_diagnostic::{Diagnostic, Span};
use etbuild_system::System;
use etbuild_yaml::{Node, Value, check_version, read_rest};

use crate::check::check;
use crate::extends::Extender;
use crate::file_path::normal;
use crate::foreign::model_of_another_tool;
use crate::matrix::expand;
use crate::merge::merge;
use crate::substitute::substitute;
use crate::{Override, Recipe, RecipeFiles, SystemFiles};

/// The keys of composition, which are resolved before the recipe is typed.
const COMPOSITION: &[&str] = &["extends", "vars", "matrix"];

/// The result of loading a recipe file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Loaded {
    /// The recipes: a single recipe, or a recipe per combination of the matrix.
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

/// Loads a recipe from `files`; `files` is the only input.
///
/// # Errors
/// Every mistake in the first recipe with mistakes, each with its place and a hint.
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

/// The tree with every `--set` merged. A file without a map is left to the typed reader, which reports the mistake.
fn override_all(tree: Node, overrides: &[Override]) -> Result<Node, Diagnostic> {
    if !matches!(tree.value, Value::Map(_)) {
        return Ok(tree);
    }
    let place = tree.place.clone();
    let merged = overrides.iter().try_fold(tree, |tree, over| Ok(merge(tree, over.tree()?)))?;
    Ok(Node { place, ..merged })
}

/// A typed recipe, or its mistakes.
fn typed(tree: Node, files: &dyn RecipeFiles) -> Result<Recipe, Vec<Diagnostic>> {
    let tree = substitute(tree, files)?;
    let recipe = read_rest::<Recipe>(&tree, COMPOSITION).map_err(|found| with_model_explained(&tree, found))?;
    let mistakes = check(&recipe);
    if mistakes.is_empty() { Ok(recipe) } else { Err(mistakes) }
}

/// The mistakes with a model of another tool told as such, in place of the mistake that the types see there.
fn with_model_explained(tree: &Node, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let Some(model) = model_of_another_tool(tree) else { return found };
    let start = |diagnostic: &Diagnostic| diagnostic.span.as_ref().map(|span| span.start);
    let place = start(&model);
    let others = found.into_iter().filter(|other| start(other) != place);
    std::iter::once(model).chain(others).collect()
}
