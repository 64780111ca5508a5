//! A request becomes units: recipes are read, targets looked up, and unavailable options refused.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etbuild_backend::TargetFacts;
use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_recipe::{Override, Recipe, missing_files};
use etbuild_system::System;
use etbuild_target::{Catalogue, Target};
use etbuild_yaml::{Spanned, suggest};

use super::compiler::missing_by_default;
use super::default_scheme::with_scheme;
use super::operators::{Operators, read_crates};
use super::options::{
    banks, best_backends, file_options, is_library, link_options, memory_facts, memory_options, program_source,
};
use super::quantization::measure_options;
use super::refusal::{
    no_binary, no_decoder, no_file_system, no_prompt, no_target, no_updates, partition_mistakes, unavailable,
};
use super::target_facts;
use super::{diffusion, encoder, first_look, vision};
use crate::emit::ReadingOptions;
use crate::input::{Db, EngineDatabase};
use crate::session::{World, guarded};
use crate::unit::Unit;

/// The request of a command.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Recipes, or models that stand for a recipe with default options.
    pub recipes: Vec<PathBuf>,
    /// `--set`.
    pub overrides: Vec<Override>,
    /// `--target`: replaces the recipes' own. A name, or the path of a YAML file.
    pub targets: Vec<String>,
    /// `--only`: the units wanted, as `recipe@target` with `*` for any characters; all where empty.
    pub only: Vec<String>,
}

/// The units of a request in the order of recipes and targets.
///
/// # Errors
/// Every mistake that was found, in any recipe.
pub fn resolve(db: &dyn Db, request: &Request) -> Result<Vec<Unit>, Vec<Diagnostic>> {
    let mut units = Vec::new();
    let mut mistakes = Vec::new();
    let mut catalogues = Catalogues::new();
    for path in &request.recipes {
        match units_of(db, path, request, &mut catalogues) {
            Ok(found) => units.extend(found),
            Err(found) => mistakes.extend(found),
        }
    }
    mistakes.extend(same_folder(&units));
    if mistakes.is_empty() {
        mistakes.extend(select(&mut units, &request.only));
    }
    if mistakes.is_empty() { Ok(units) } else { Err(mistakes) }
}

/// Keeps the units that match a pattern. A pattern without a match is a mistake.
fn select(units: &mut Vec<Unit>, patterns: &[String]) -> Vec<Diagnostic> {
    if patterns.is_empty() {
        return Vec::new();
    }
    let wants = |pattern: &&String, unit: &Unit| matches(pattern, &unit.instance());
    let idle = patterns.iter().filter(|pattern| !units.iter().any(|unit| wants(pattern, unit)));
    let mistakes = idle.map(|pattern| {
        let names: Vec<String> = units.iter().map(Unit::instance).collect();
        let diagnostic = Diagnostic::error(Code::Usage, format!("no unit is called `{pattern}`"));
        match suggest(pattern, names.iter().map(String::as_str)) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic.help("`etbuild matrix` lists the units"),
        }
    });
    let mistakes = mistakes.collect();
    units.retain(|unit| patterns.iter().any(|pattern| wants(&pattern, unit)));
    mistakes
}

/// Whether a text matches a pattern, in which `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(start) else { return false };
    text.char_indices().map(|(at, _)| at).chain([text.len()]).any(|at| matches(rest, &text[at..]))
}

/// The name of each unit of a request and, below the output folder, the folder of the results, in the order of
/// [`resolve`].
///
/// # Errors
/// Mistakes in the recipes.
pub fn unit_folders(world: &Arc<World>, request: &Request) -> Result<Vec<(String, PathBuf)>, Vec<Diagnostic>> {
    let db = EngineDatabase::new(world.clone());
    let units = guarded(|| resolve(&db, request)).unwrap_or_else(|transient| Err(vec![transient.into()]))?;
    Ok(units.iter().map(|unit| (unit.name().to_owned(), unit.folder())).collect())
}

/// The targets that a recipe may name: the built-in targets, and the targets in a folder `targets` beside the recipe.
///
/// # Errors
/// Mistakes in target files.
pub fn catalogue(db: &dyn Db, recipe: &Path) -> Result<Catalogue, Vec<Diagnostic>> {
    let mut catalogue = Catalogue::shipped()?;
    let folder = recipe.parent().unwrap_or(Path::new("")).join("targets");
    catalogue.add_folder(db.world().system(), &folder)?;
    Ok(catalogue)
}

/// The targets that the recipes in a folder may name, `--target` included, and the chosen targets.
type Catalogues = BTreeMap<PathBuf, (Catalogue, Option<Vec<Spanned<String>>>)>;

fn units_of(
    db: &dyn Db,
    path: &Path,
    request: &Request,
    catalogues: &mut Catalogues,
) -> Result<Vec<Unit>, Vec<Diagnostic>> {
    let recipes =
        super::recipes::recipes(db, path.to_owned(), request.overrides.clone()).map_err(|found| found.to_vec())?;
    let (catalogue, chosen) = match catalogues.entry(path.parent().unwrap_or(Path::new("")).to_owned()) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => {
            let mut catalogue = catalogue(db, path)?;
            let chosen = chosen_targets(db.world().system(), &mut catalogue, &request.targets)?;
            place.insert((catalogue, chosen))
        }
    };
    let mut units = Vec::new();
    let mut mistakes = Vec::new();
    for recipe in &recipes.instances {
        match units_of_recipe(db, (recipe, &recipes.files), chosen.as_deref().unwrap_or(&recipe.targets), catalogue) {
            Ok(found) => units.extend(found),
            Err(found) => mistakes.extend(found),
        }
    }
    if mistakes.is_empty() { Ok(units) } else { Err(mistakes) }
}

/// The targets of `--target`; files are added to the catalogue.
///
/// # Errors
/// Mistakes in target files.
pub fn chosen_targets(
    system: &dyn System,
    catalogue: &mut Catalogue,
    targets: &[String],
) -> Result<Option<Vec<Spanned<String>>>, Vec<Diagnostic>> {
    let mut names = Vec::new();
    for target in targets {
        let span = Span::command_line(target);
        let is_file = Path::new(target).extension().is_some_and(|extension| extension == "yaml");
        let name =
            if is_file { catalogue.add_file(system, Path::new(target))?.name().to_owned() } else { target.clone() };
        names.push(Spanned::new(name, span));
    }
    Ok((!names.is_empty()).then_some(names))
}

/// The mistakes in a recipe that no target cures.
pub fn mistakes_for_any_target(world: &World, recipe: &Recipe) -> Vec<Diagnostic> {
    let system = world.system();
    let mut mistakes = missing_files(recipe, system);
    mistakes.extend(first_look::mistakes(system, recipe));
    mistakes.extend(unavailable(recipe));
    mistakes.extend(encoder::refusals(system, recipe));
    mistakes.extend(vision::refusals(system, recipe));
    mistakes.extend(diffusion::mistakes(system, recipe));
    mistakes.extend(partition_mistakes(recipe, world));
    mistakes
}

fn units_of_recipe(
    db: &dyn Db,
    (recipe, files): (&Recipe, &Arc<[PathBuf]>),
    targets: &[Spanned<String>],
    catalogue: &Catalogue,
) -> Result<Vec<Unit>, Vec<Diagnostic>> {
    let mut mistakes = mistakes_for_any_target(db.world(), recipe);
    let operators = read_crates(db.world().system(), recipe).unwrap_or_else(|found| {
        mistakes.extend(found);
        Operators::default()
    });
    let mut found = Vec::new();
    for name in targets {
        match catalogue.find(name) {
            Ok(target) => {
                mistakes.extend(no_binary(db.world().system(), recipe, target, name));
                mistakes.extend(no_file_system(recipe, target));
                mistakes.extend(no_updates(recipe, target));
                mistakes.extend(no_decoder(db.world().system(), recipe, target));
                mistakes.extend(no_prompt(recipe, target, name));
                mistakes.extend(diffusion::no_prompt(recipe, target, name));
                let best = best_backends(recipe, db.world(), &target_facts::of(target));
                mistakes.extend(missing_by_default(db.world(), recipe, &best, name));
                found.push(Arc::new(target.clone()));
            }
            Err(mistake) => mistakes.push(mistake),
        }
    }
    if targets.is_empty() {
        mistakes.push(no_target(recipe));
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let recipe = Arc::new(recipe.clone());
    Ok(found.into_iter().map(|target| unit(db, &recipe, files, &operators, target)).collect())
}

fn unit(db: &dyn Db, recipe: &Arc<Recipe>, files: &Arc<[PathBuf]>, operators: &Operators, target: Arc<Target>) -> Unit {
    let facts = target_facts::of(&target);
    let recipe = &with_scheme(db.world(), recipe, &facts).map_or_else(|| recipe.clone(), Arc::new);
    let banks = banks(&target, is_library(recipe, &target));
    let facts = TargetFacts { memory: memory_facts(recipe, &target, &banks), ..facts };
    let program = program_source(db, recipe, operators, facts);
    let memory = memory_options(recipe, banks, &program.partition);
    let (measure, mut file) = (measure_options(db, recipe), file_options(db, recipe, &program.archives));
    if target.memory().is_some() {
        // Firmware neither decodes files nor prints names: flash has no room for either.
        file.reading = ReadingOptions::default();
    }
    let link = link_options(db, recipe, operators, &file, &target);
    Unit { files: files.clone(), program, memory, measure, file, link, target, recipe: recipe.clone() }
}

/// Two units that would write the same folder.
fn same_folder(units: &[Unit]) -> Vec<Diagnostic> {
    let mut folders: Vec<PathBuf> = units.iter().map(Unit::folder).collect();
    folders.sort();
    let twice = folders.windows(2).filter(|pair| pair[0] == pair[1]);
    twice
        .map(|pair| {
            let message = format!("two recipes would write `{}`", pair[0].display());
            Diagnostic::error(Code::DuplicateTarget, message).help("give the recipes different names")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, wanted) in
            [("a@b", true), ("a@*", true), ("*@b", true), ("*", true), ("a*b", true), ("a", false), ("*@c", false)]
        {
            assert_eq!(matches(pattern, "a@b"), wanted, "{pattern}");
        }
    }
}
