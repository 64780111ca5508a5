//! The ATen program becomes an Edge program.

use etbuild_ir::{AtenProgram, Dialect, Lowered, text};
use etbuild_pass::Runtime;

use super::imported;
use crate::db::{DataFile, Db};
use crate::program_artifact;
use crate::stage::{self, Blocked, Stage, StageResult};
use crate::{ArtifactKind, failure};

/// The model's program in operators that have kernels, folded and without dead code. Reads no fact of any
/// target.
#[salsa::tracked(returns(clone))]
pub fn lowered(db: &dyn Db, model: DataFile, runtime: Runtime) -> StageResult {
    let imported = imported(db, model).map_err(|blocked: Blocked| blocked.downstream())?;
    let program = imported.blob(ArtifactKind::Program)?;
    let key = Stage::Lower.key().input("program", program.digest).option("runtime", runtime.name()).finish();
    stage::run(db.world(), Stage::Lower, key, |products| {
        let ((_, program), weights) = program_artifact::load(db.world(), &imported, text::parse)?;
        let aten = AtenProgram::verify(program).map_err(failure::violations)?;
        let lowered = etbuild_pass::lower(aten, runtime).map_err(failure::pass)?;
        let printed = text::print(Lowered::NAME, lowered.program());
        program_artifact::store(products, &printed, lowered.program(), &weights);
        Ok(())
    })
}
