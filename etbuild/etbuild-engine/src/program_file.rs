//! A model's program file without a binary, for running it on the host.

use std::path::Path;
use std::sync::Arc;

use etbuild_backend::TargetFacts;
use etbuild_diagnostic::Diagnostic;
use etbuild_recipe::Override;
use etbuild_store::{Blob, BlobRef};
use etbuild_target::Catalogue;

use crate::db::{Db, EngineDatabase};
use crate::guard::{guarded, or_again};
use crate::query::{self, FileOptions, PlanOptions};
use crate::resolve::{file_options, partition_mistakes, plan_options, sources};
use crate::stage::{Blocked, Staged};
use crate::target_facts;
use crate::unit::Archives;
use crate::world::World;
use crate::{ArtifactKind, failure};

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
    Ok(compiled(world, path, overrides, |file| FileOptions { external_weights: false, ..file })?.program)
}

/// The same with weights where the recipe places the weights.
///
/// # Errors
/// What keeps the model from being compiled.
pub fn program_files(world: &Arc<World>, path: &Path, overrides: &[Override]) -> Result<ProgramFiles, Vec<Diagnostic>> {
    compiled(world, path, overrides, |file| file)
}

fn compiled(
    world: &Arc<World>,
    path: &Path,
    overrides: &[Override],
    adjust: impl Fn(FileOptions) -> FileOptions,
) -> Result<ProgramFiles, Vec<Diagnostic>> {
    let attempt = || {
        let db = EngineDatabase::new(world.clone());
        guarded(|| {
            let (archives, plan, file) = options(&db, path, overrides)?;
            emit(&db, archives, plan, adjust(file)).map_err(|blocked| failure::blocked(&blocked, Diagnostic::clone))
        })
    };
    or_again(world, attempt(), attempt).unwrap_or_else(|transient| Err(vec![transient.into()]))
}

/// The data files of an emitted program with what their names end in, that of the model first.
pub fn data_files(emitted: &Staged) -> Vec<(&'static str, BlobRef)> {
    let kinds = [(ArtifactKind::DataFile, "ptd"), (ArtifactKind::AdapterFile, "adapter.ptd")];
    let found = |(kind, ending)| Some((ending, emitted.artifacts.get(kind)?.blob()));
    kinds.into_iter().filter_map(found).collect()
}

/// The methods and the options of the recipe that the model stands for.
fn options(
    db: &dyn Db,
    path: &Path,
    overrides: &[Override],
) -> Result<(Archives, PlanOptions, FileOptions), Vec<Diagnostic>> {
    let recipes = query::recipes(db, path.to_owned(), overrides.to_vec()).map_err(|found| found.to_vec())?;
    let banks = vec![("memory".to_owned(), None)];
    let recipe = recipes.instances.first().ok_or_else(|| failure::internal("a model stands for no recipe"))?;
    let mistakes = partition_mistakes(recipe, db.world());
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let archives = sources(db, recipe);
    let file = file_options(recipe, &archives);
    Ok((archives, plan_options(db, recipe, banks, this_machine()?), file))
}

/// This machine as engines see it: the shipped target of its kind.
fn this_machine() -> Result<TargetFacts, Vec<Diagnostic>> {
    let catalogue = Catalogue::shipped()?;
    let mut facts = catalogue.iter().map(target_facts::of);
    let architecture = std::env::consts::ARCH;
    let same = facts.find(|facts| facts.hosted && facts.architecture == architecture);
    let unknown = || TargetFacts { architecture: architecture.to_owned(), features: Vec::new(), hosted: true };
    Ok(same.unwrap_or_else(unknown))
}

fn emit(db: &dyn Db, archives: Archives, plan: PlanOptions, file: FileOptions) -> Result<ProgramFiles, Blocked> {
    let emitted = query::emitted(db, archives, plan, file)?;
    let open = |blob: &BlobRef| db.world().open_blob(blob);
    let data = data_files(&emitted).iter().map(|(_, blob)| open(blob)).collect();
    Ok(ProgramFiles { program: open(&emitted.blob(ArtifactKind::ProgramFile)?), data })
}
