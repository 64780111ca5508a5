//! A request becomes units: recipes are read, targets looked up, and unavailable options refused.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etbuild_backend::TargetFacts;
use etbuild_checkpoint::{Cache, Options};
use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_recipe::{
    self as recipe, Model, Override, Partition, Planner, PythonFunction, Recipe, Runtime, Scheme, missing_files,
};
use etbuild_target::{Catalogue, Target};
use etbuild_yaml::{Spanned, suggest};

use crate::db::{Archive, CheckpointFolder, Db, EngineDatabase, ModelSource, PythonCall};
use crate::guard::guarded;
use crate::quantize_options::{measure_options, needs_data, quantize_options, rotation};
use crate::query::{self, FileOptions, PartitionOptions, PlanOptions};
use crate::target_facts;
use crate::unit::{Archives, Unit};
use crate::world::World;

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
    let recipes = query::recipes(db, path.to_owned(), request.overrides.clone()).map_err(|found| found.to_vec())?;
    let (catalogue, chosen) = match catalogues.entry(path.parent().unwrap_or(Path::new("")).to_owned()) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => {
            let mut catalogue = catalogue(db, path)?;
            let chosen = chosen_targets(db, &mut catalogue, request)?;
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
fn chosen_targets(
    db: &dyn Db,
    catalogue: &mut Catalogue,
    request: &Request,
) -> Result<Option<Vec<Spanned<String>>>, Vec<Diagnostic>> {
    let mut names = Vec::new();
    for target in &request.targets {
        let span = Span::command_line(target);
        let is_file = Path::new(target).extension().is_some_and(|extension| extension == "yaml");
        let name = if is_file {
            catalogue.add_file(db.world().system(), Path::new(target))?.name().to_owned()
        } else {
            target.clone()
        };
        names.push(Spanned::new(name, span));
    }
    Ok((!names.is_empty()).then_some(names))
}

fn units_of_recipe(
    db: &dyn Db,
    (recipe, files): (&Recipe, &Arc<[PathBuf]>),
    targets: &[Spanned<String>],
    catalogue: &Catalogue,
) -> Result<Vec<Unit>, Vec<Diagnostic>> {
    let mut mistakes = missing_files(recipe, db.world().system());
    mistakes.extend(unavailable(recipe));
    mistakes.extend(partition_mistakes(recipe, db.world()));
    let mut found = Vec::new();
    for name in targets {
        match catalogue.find(name) {
            Ok(target) => {
                mistakes.extend(no_file_system(recipe, target));
                mistakes.extend(no_linker_of_apps(recipe, target));
                mistakes.extend(no_prompt(recipe, target, name));
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
    Ok(found.into_iter().map(|target| unit(db, &recipe, files, target)).collect())
}

fn unit(db: &dyn Db, recipe: &Arc<Recipe>, files: &Arc<[PathBuf]>, target: Arc<Target>) -> Unit {
    let verify = recipe.verify.as_ref().map(|verify| db.data_file(&verify.inputs.path));
    let plan = plan_options(db, recipe, banks(&target), target_facts::of(&target));
    let archives = sources(db, recipe);
    let (measure, file) = (measure_options(db, recipe), file_options(recipe, &archives));
    Unit { files: files.clone(), archives, verify, measure, plan, file, target, recipe: recipe.clone() }
}

fn python_call(recipe: &Recipe, function: &PythonFunction) -> PythonCall {
    let arguments = recipe.export.arguments.iter();
    PythonCall {
        script: function.file.path.clone(),
        function: function.function.clone(),
        arguments: arguments.map(|(name, value)| (name.clone(), value.value.clone())).collect(),
        interpreter: recipe.export.interpreter(),
        files: recipe.export.files.iter().map(|file| file.path.clone()).collect(),
    }
}

/// The sources of the methods of a recipe's program.
pub fn sources(db: &dyn Db, recipe: &Recipe) -> Archives {
    if let Model::Checkpoint(folder) = &recipe.model {
        let tokens = |size: &Option<Spanned<u32>>| size.as_ref().map(|size| size.value);
        let (context, prefill) = (tokens(&recipe.export.context), recipe.export.prefill());
        let speculate = tokens(&recipe.export.speculate).filter(|tokens| *tokens > 0);
        let (cache, rotation) = (cache(recipe), rotation(recipe));
        let options = Options { context, prefill, speculate, cache, rotation, every: false };
        let adapter = recipe.adapter.as_ref().map(|adapter| &*adapter.path);
        let methods = options.methods().into_iter();
        let folder = db.checkpoint(&folder.path, adapter, options);
        return methods.map(|method| (method.name(), ModelSource::Checkpoint(folder, method))).collect();
    }
    if let Model::Python(function) = &recipe.model {
        let model = ModelSource::Archive(Archive::Python(db.python_model(python_call(recipe, function))));
        return Archives::from([(Model::METHOD.to_owned(), model)]);
    }
    let archives = recipe.model.archives().into_iter();
    archives
        .map(|(method, file)| (method.to_owned(), ModelSource::Archive(Archive::File(db.model_file(&file.path)))))
        .collect()
}

/// The type of a language model's KV cache: fp16 where keys and values are computed from int8 activations.
fn cache(recipe: &Recipe) -> Cache {
    let scheme = recipe.quantize.as_ref().map(|quantize| quantize.scheme.value);
    let rounds = matches!(scheme, Some(Scheme::DynamicInt8 | Scheme::Dynamic8Weight4));
    match recipe.export.cache.as_ref().map(|cache| cache.value) {
        Some(recipe::Cache::Float32) => Cache::Float32,
        Some(recipe::Cache::Float16) => Cache::Float16,
        Some(recipe::Cache::Int8) => Cache::Int8,
        None if rounds => Cache::Float16,
        None => Cache::Float32,
    }
}

/// The parts of the program file besides the model.
pub fn file_options(recipe: &Recipe, archives: &Archives) -> FileOptions {
    let constants = recipe.export.constants.iter();
    FileOptions {
        constants: constants.map(|(name, value)| (name.clone(), value.value.clone())).collect(),
        external_weights: recipe.export.external_weights().is_some(),
        adapter: recipe.adapter.is_some(),
        texts: checkpoint(archives),
    }
}

/// The checkpoint of the methods, if any.
fn checkpoint(archives: &Archives) -> Option<CheckpointFolder> {
    archives.values().find_map(|source| match source {
        ModelSource::Checkpoint(folder, _) => Some(*folder),
        ModelSource::Archive(_) => None,
    })
}

/// The inputs of lowering and planning for these banks.
pub fn plan_options(
    db: &dyn Db,
    recipe: &Recipe,
    banks: Vec<(String, Option<u64>)>,
    target: TargetFacts,
) -> PlanOptions {
    let engines = recipe.partition.backends(&best_backends(recipe, db.world(), &target));
    let widens_halves = recipe.export.widens_halves() && !engines.is_empty();
    let partition = PartitionOptions { engines, target };
    let quantize = quantize_options(db, recipe);
    let (runtime, planner) = (runtime(recipe.runtime), planner(recipe.memory.planner));
    PlanOptions { runtime, widens_halves, quantize, planner, banks, partition }
}

/// The backends that `partition: auto` stands for, best first. ExecuTorch's runtime has none of them.
fn best_backends(recipe: &Recipe, world: &World, target: &TargetFacts) -> Vec<&'static str> {
    let asked = world.engines().iter().filter(|backend| recipe.runtime == Runtime::Etbuild && backend.runs_on(target));
    asked.map(|backend| backend.name()).collect()
}

const fn runtime(runtime: Runtime) -> etbuild_pass::Runtime {
    match runtime {
        Runtime::Etbuild => etbuild_pass::Runtime::Etbuild,
        Runtime::Executorch => etbuild_pass::Runtime::Executorch,
    }
}

const fn planner(planner: Planner) -> &'static str {
    match planner {
        Planner::Greedy => "greedy",
        Planner::Naive => "naive",
    }
}

/// The banks for tensors, without the stack. A hosted target has the memory of the operating system.
fn banks(target: &Target) -> Vec<(String, Option<u64>)> {
    match target.memory() {
        Some(memory) => {
            vec![(memory.arena.name.to_string(), Some(memory.arena.size.0.saturating_sub(memory.stack.0)))]
        }
        None => vec![("memory".to_owned(), None)],
    }
}

/// One refusal for every documented option that this version lacks.
fn unavailable(recipe: &Recipe) -> Vec<Diagnostic> {
    let mut refusals = Vec::new();
    let without_data = recipe.quantize.as_ref().filter(|quantize| quantize.calibrate.is_none() && needs_data(quantize));
    refusals.extend(without_data.map(|quantize| query::no_data().at((*quantize.scheme.span).clone())));
    let export = &recipe.export;
    let prefill = export.prefill.iter().flat_map(|lengths| &lengths.0);
    let sizes = [&export.context, &export.speculate].into_iter().flatten().chain(prefill);
    if !matches!(recipe.model, Model::Checkpoint(_)) {
        refusals.extend(sizes.map(|size| refusal("a token count requires a checkpoint", &size.span)));
        let cache = recipe.export.cache.iter();
        refusals.extend(cache.map(|cache| refusal("`export.cache` requires a checkpoint", &cache.span)));
    }
    refusals
}

/// Weights in a file of their own on a target that has no files.
fn no_file_system(recipe: &Recipe, target: &Target) -> Option<Diagnostic> {
    let weights = recipe.export.external_weights().filter(|_| target.memory().is_some())?;
    let message = format!("`{}` has no file system, so weights cannot be in a file of their own", target.name());
    let diagnostic = Diagnostic::error(Code::OptionUnavailable, message).at((*weights.span).clone());
    Some(diagnostic.help("leave `weights` out for this target: they lie in its flash, and are used in place"))
}

/// A library for C on a target without C libraries.
fn no_linker_of_apps(recipe: &Recipe, target: &Target) -> Option<Diagnostic> {
    let library = recipe.library.as_ref().filter(|library| library.value && target.memory().is_some())?;
    let message = format!("`{}` runs firmware, and no app that could link a library", target.name());
    let diagnostic = Diagnostic::error(Code::OptionUnavailable, message).at((*library.span).clone());
    Some(diagnostic.help("leave `library` out for this target"))
}

/// A language model on a target without a command line to give prompts on.
fn no_prompt(recipe: &Recipe, target: &Target, named: &Spanned<String>) -> Option<Diagnostic> {
    let is_firmware = matches!(recipe.model, Model::Checkpoint(_)) && target.memory().is_some();
    let message = format!(
        "`{}` runs firmware, which takes no prompt, so a language model has no text to continue",
        target.name()
    );
    let diagnostic = Diagnostic::error(Code::OptionUnavailable, message).at((*named.span).clone());
    is_firmware.then(|| diagnostic.help("choose a hosted target; `etbuild targets list` shows them"))
}

fn refusal(message: &str, span: &Span) -> Diagnostic {
    let help = "export the model with `torch.export.save` and name the archive in `model: { pt2: ... }`";
    Diagnostic::error(Code::OptionUnavailable, message).at(span.clone()).help(help)
}

/// The mistakes in the backends of a recipe: unknown backends, or backends that the runtime lacks.
pub fn partition_mistakes(recipe: &Recipe, world: &World) -> Vec<Diagnostic> {
    let words = [Partition::AUTO, Partition::PORTABLE];
    let engines = recipe.partition.names().iter().filter(|engine| !words.contains(&engine.value.as_str()));
    let mistake = |engine: &Spanned<String>| match (world.engine(&engine.value), recipe.runtime) {
        (None, _) => Some(unknown_engine(engine, world)),
        (Some(_), Runtime::Executorch) => Some(no_engine_upstream(engine)),
        (Some(_), Runtime::Etbuild) => None,
    };
    engines.filter_map(mistake).collect()
}

fn unknown_engine(engine: &Spanned<String>, world: &World) -> Diagnostic {
    let names: Vec<&str> =
        world.engines().iter().map(|engine| engine.name()).chain([Partition::AUTO, Partition::PORTABLE]).collect();
    let message = format!("there is no backend `{}`", engine.value);
    let diagnostic = Diagnostic::error(Code::UnknownEngine, message).at((*engine.span).clone());
    let diagnostic = diagnostic.note(format!("the backends are {}", names.join(", ")));
    match suggest(&engine.value, names.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help("leave `partition` out: etbuild asks the best backends of the target"),
    }
}

fn no_engine_upstream(engine: &Spanned<String>) -> Diagnostic {
    let message = format!("ExecuTorch's own runtime does not have the backend `{}`", engine.value);
    let diagnostic = Diagnostic::error(Code::EngineUnavailable, message).at((*engine.span).clone());
    diagnostic.help("leave `runtime: executorch` or `partition` out")
}

fn no_target(recipe: &Recipe) -> Diagnostic {
    let message = format!("recipe `{}` names no target", recipe.name);
    let diagnostic = Diagnostic::error(Code::MissingKey, message).at(recipe.model.span().clone());
    diagnostic.help("add `targets:`, or give `--target`; `etbuild targets list` shows them")
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
