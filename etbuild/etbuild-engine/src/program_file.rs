//! A model's program file without a binary, for running it on the host.

use std::path::Path;
use std::sync::Arc;

use etbuild_backend::TargetFacts;
use etbuild_diagnostic::Diagnostic;
use etbuild_recipe::Override;
use etbuild_store::Blob;
use etbuild_target::Catalogue;

use crate::ArtifactKind;
use crate::db::{Db, EngineDatabase};
use crate::guard::guarded;
use crate::query::{self, FileOptions, PlanOptions};
use crate::resolve::{checkpoint, partition_mistakes, plan_options, sources};
use crate::stage::Blocked;
use crate::target_facts;
use crate::unit::Archives;
use crate::world::World;

/// The program file of the model at `path` with default options but for `overrides`, planned for a host.
///
/// # Errors
/// What keeps the model from being compiled.
pub fn program_file(world: &Arc<World>, path: &Path, overrides: &[Override]) -> Result<Blob, Vec<Diagnostic>> {
    let db = EngineDatabase::new(world.clone());
    let (archives, options) = options(&db, path, overrides)?;
    let result = guarded(|| emit(&db, archives, options)).map_err(|transient| vec![transient.into()])?;
    result.map_err(|blocked| crate::failure::blocked(&blocked, Diagnostic::clone))
}

/// The methods and the options of the recipe that the model stands for.
fn options(db: &dyn Db, path: &Path, overrides: &[Override]) -> Result<(Archives, PlanOptions), Vec<Diagnostic>> {
    let recipes = query::recipes(db, path.to_owned(), overrides.to_vec()).map_err(|found| found.to_vec())?;
    let banks = vec![("memory".to_owned(), None)];
    let recipe = recipes.instances.first().ok_or_else(|| crate::failure::internal("a model stands for no recipe"))?;
    let mistakes = partition_mistakes(recipe, db.world());
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    Ok((sources(db, recipe), plan_options(db, recipe, banks, this_machine()?)))
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

fn emit(db: &dyn Db, archives: Archives, options: PlanOptions) -> Result<Blob, Blocked> {
    let file = FileOptions { texts: checkpoint(&archives), ..FileOptions::default() };
    let emitted = query::emitted(db, archives, options, file)?;
    Ok(db.world().open_blob(&emitted.blob(ArtifactKind::ProgramFile)?))
}
