//! A model's program file without a binary, for running it on the host.

use std::path::Path;
use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use etbuild_pass::Runtime;
use etbuild_recipe::Model;
use etbuild_store::Blob;

use crate::ArtifactKind;
use crate::db::{Db, EngineDatabase};
use crate::guard::guarded;
use crate::query::{self, FileOptions, PlanOptions};
use crate::stage::Blocked;
use crate::unit::Archives;
use crate::world::World;

/// The program file of the model at `path`, planned for a host.
///
/// # Errors
/// What keeps the model from being compiled.
pub fn program_file(world: &Arc<World>, path: &Path) -> Result<Blob, Vec<Diagnostic>> {
    let db = EngineDatabase::new(world.clone());
    let result = guarded(|| emit(&db, path)).map_err(|transient| vec![transient.into()])?;
    result.map_err(|blocked| match blocked {
        Blocked::Failed(failed) => failed.diagnostics.to_vec(),
        Blocked::Missing(_) | Blocked::Waiting => crate::failure::internal("a stage did not run"),
    })
}

fn emit(db: &dyn Db, path: &Path) -> Result<Blob, Blocked> {
    let banks = vec![("memory".to_owned(), None)];
    let options = PlanOptions { runtime: Runtime::Etbuild, planner: "greedy", banks };
    let archives = Archives::from([(Model::METHOD.to_owned(), db.data_file(path))]);
    let emitted = query::emitted(db, archives, options, FileOptions::default())?;
    Ok(db.world().open_blob(&emitted.blob(ArtifactKind::ProgramFile)?))
}
