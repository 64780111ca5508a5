//! The ATen program becomes an Edge program.

use etbuild_ir::{AtenProgram, Dialect, Lowered, text};

use super::imported;
use crate::db::{DataFile, Db};
use crate::program_artifact;
use crate::stage::{self, Blocked, Stage, StageResult};
use crate::{ArtifactKind, failure};

/// The model's program in operators that have kernels, folded and without dead code. Reads no fact of any target.
#[salsa::tracked(returns(clone))]
pub fn lowered(db: &dyn Db, model: DataFile) -> StageResult {
    let imported = imported(db, model).map_err(|blocked: Blocked| blocked.downstream())?;
    let program = imported.blob(ArtifactKind::Program)?;
    let key = Stage::Lower.key().input("program", program.digest).finish();
    stage::run(db.world(), Stage::Lower, key, |products| {
        let (_, program) = program_artifact::load(db.world(), &imported, text::parse)?;
        let aten = AtenProgram::verify(program).map_err(failure::violations)?;
        let core = etbuild_pass::to_core_aten(aten).map_err(failure::pass)?;
        let edge = etbuild_pass::to_edge(core).map_err(failure::pass)?;
        let lowered = etbuild_pass::to_lowered(edge).map_err(failure::pass)?;
        program_artifact::store(products, &text::print(Lowered::NAME, lowered.program()), lowered.program());
        Ok(())
    })
}
