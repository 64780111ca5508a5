//! The planned program becomes a program file.

use etbuild_emit::EmitOptions;
use etbuild_ir::text;

use super::{PlanOptions, planned};
use crate::db::{DataFile, Db};
use crate::interface::Interface;
use crate::program_artifact;
use crate::stage::{self, Blocked, Stage, StageResult};
use crate::{ArtifactKind, PRODUCER, failure};

/// The program file, and the interface that a link needs to know of it.
#[salsa::tracked(returns(clone))]
pub fn emitted(db: &dyn Db, model: DataFile, options: PlanOptions) -> StageResult {
    let planned = planned(db, model, options).map_err(|blocked: Blocked| blocked.downstream())?;
    let program = planned.blob(ArtifactKind::Program)?;
    let key = Stage::Emit.key().input("program", program.digest).option("producer", PRODUCER).finish();
    stage::run(db.world(), Stage::Emit, key, |products| {
        let (planned, _weights) = program_artifact::load(db.world(), &planned, text::parse_plan)?;
        let mut file = products.writer();
        let options = EmitOptions { producer: PRODUCER.to_owned() };
        let emitted = etbuild_emit::emit(&planned, &options, &mut file).map_err(failure::emit)?;
        products.finish(ArtifactKind::ProgramFile, file);
        products.put(ArtifactKind::Interface, &failure::json(&Interface::new(&planned, &emitted))?);
        Ok(())
    })
}
