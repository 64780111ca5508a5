//! A model's program file without a binary, for running it on the host.

use std::path::Path;
use std::sync::Arc;

use etbuild_backend::TargetFacts;
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_recipe::{Override, Recipe};
use etbuild_store::{Blob, BlobRef};
use etbuild_target::Catalogue;

use super::default_scheme::with_scheme;
use super::operators::read_crates;
use super::options::{file_options, memory_options, program_source};
use super::resolve::mistakes_for_any_target;
use super::target_facts;
use crate::action::{ArtifactKind, Blocked, Staged};
use crate::emit::{self, FileOptions, data_files};
use crate::input::{Db, EngineDatabase};
use crate::partition::Fallback;
use crate::program_source::ProgramSource;
use crate::session::{World, guarded, or_again};

/// A program file with the data files that the program file refers to.
#[derive(Clone, Debug)]
pub struct ProgramFiles {
    /// The program file.
    pub program: Blob,
    /// The data files, the model's file first; empty where weights are in the program file.
    pub data: Vec<Blob>,
}

/// The program file of the model at `path` with default options but for `overrides`, planned for a host, with weights inside.
///
/// # Errors
/// The failure of the compilation.
pub fn program_file(world: &Arc<World>, path: &Path, overrides: &[Override]) -> Result<Blob, Vec<Diagnostic>> {
    of_host(world, path, overrides, |db, host| host.open(db))
}

/// The same, and what of the program runs on portable kernels although backends were asked.
///
/// # Errors
/// What keeps the model from being compiled.
pub fn program_file_with_fallback(
    world: &Arc<World>,
    path: &Path,
    overrides: &[Override],
) -> Result<(Blob, Option<Fallback>), Vec<Diagnostic>> {
    of_host(world, path, overrides, |db, host| {
        let nodes = if host.program.partition.engines.is_empty() { Vec::new() } else { host.program.nodes(db)? };
        Ok((host.open(db)?, Fallback::of(&nodes)))
    })
}

/// The same with weights where the recipe places the weights.
///
/// # Errors
/// What keeps the model from being compiled.
pub fn program_files(world: &Arc<World>, path: &Path, overrides: &[Override]) -> Result<ProgramFiles, Vec<Diagnostic>> {
    of_host(world, path, overrides, |db, HostProgram { program, memory, file, .. }| {
        let emitted = emit::emitted(db, program, memory, file)?;
        open(db, &emitted)
    })
}

/// Calls `use_it` with the program of the model at `path` for this machine, and once more where an artifact was lost meanwhile.
///
/// # Errors
/// Mistakes in the recipe; the failures of `use_it`.
pub fn of_host<T>(
    world: &Arc<World>,
    path: &Path,
    overrides: &[Override],
    use_it: impl Fn(&EngineDatabase, HostProgram) -> Result<T, Blocked>,
) -> Result<T, Vec<Diagnostic>> {
    let attempt = || {
        let db = EngineDatabase::new(world.clone());
        guarded(|| {
            let host = options(&db, path, overrides)?;
            use_it(&db, host).map_err(|blocked| blocked.diagnostics(Diagnostic::clone))
        })
    };
    or_again(world, attempt(), attempt).unwrap_or_else(|transient| Err(vec![transient.into()]))
}

/// The program of a model for this machine.
pub struct HostProgram {
    /// The recipe that the model stands for.
    pub recipe: Recipe,
    /// The methods, and the options before memory planning.
    pub program: ProgramSource,
    /// The memory.
    pub memory: etbuild_memory::Options,
    /// The parts of the program file besides the model.
    pub file: FileOptions,
}

impl HostProgram {
    /// The program file, with weights inside.
    ///
    /// # Errors
    /// The failure of the compilation.
    pub fn open(&self, db: &dyn Db) -> Result<Blob, Blocked> {
        let file = FileOptions { external_weights: false, ..self.file.clone() };
        let emitted = emit::emitted(db, self.program.clone(), self.memory.clone(), file)?;
        Ok(open(db, &emitted)?.program)
    }
}

/// The methods and the options of the recipe that the model stands for.
fn options(db: &dyn Db, path: &Path, overrides: &[Override]) -> Result<HostProgram, Vec<Diagnostic>> {
    let recipes = super::recipes::recipes(db, path.to_owned(), overrides.to_vec()).map_err(|found| found.to_vec())?;
    let banks = vec![("memory".to_owned(), None)];
    let recipe = match recipes.instances.as_slice() {
        [recipe] => recipe,
        [] => return Err(crate::failure::internal("a model stands for no recipe")),
        several => return Err(vec![one_of(path, several)]),
    };
    let mistakes = mistakes_for_any_target(db.world(), recipe);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let operators = read_crates(db.world().system(), recipe)?;
    let facts = this_machine()?;
    let recipe = with_scheme(db.world(), recipe, &facts).unwrap_or_else(|| recipe.clone());
    let program = program_source(db, &recipe, &operators, facts);
    let memory = memory_options(&recipe, banks, &program.partition);
    let file = file_options(db, &recipe, &program.archives);
    Ok(HostProgram { recipe, program, memory, file })
}

/// A matrix, where one program is wanted.
fn one_of(path: &Path, recipes: &[Recipe]) -> Diagnostic {
    let names: Vec<&str> = recipes.iter().map(|recipe| recipe.name.as_str()).collect();
    let message = format!("`{}` is {} recipes: {}", path.display(), names.len(), names.join(", "));
    Diagnostic::error(Code::Usage, message).help("choose one value of each variable: `--set matrix.NAME=VALUE`")
}

/// The facts of this machine for backends: those of the shipped target `linux-<architecture>`.
fn this_machine() -> Result<TargetFacts, Vec<Diagnostic>> {
    let (catalogue, architecture) = (Catalogue::shipped()?, std::env::consts::ARCH);
    let target = catalogue.get(&format!("linux-{architecture}"));
    let unknown = || TargetFacts {
        architecture: architecture.to_owned(),
        features: Vec::new(),
        hosted: true,
        ..TargetFacts::default()
    };
    Ok(target.map_or_else(unknown, target_facts::of))
}

fn open(db: &dyn Db, emitted: &Staged) -> Result<ProgramFiles, Blocked> {
    let open = |blob: &BlobRef| db.world().open_blob(blob);
    let data = data_files(emitted).iter().map(|(_, blob)| open(blob)).collect();
    Ok(ProgramFiles { program: open(&emitted.blob(ArtifactKind::ProgramFile)?), data })
}
