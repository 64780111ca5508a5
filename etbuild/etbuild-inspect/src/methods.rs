//! The methods of a unit's program.

use etbuild_diagnostic::Diagnostic;
use etbuild_engine::action::program::StoredProgram;
use etbuild_engine::action::{Blocked, StageResult};
use etbuild_engine::input::Db;
use etbuild_engine::pipeline::Stage;
use etbuild_engine::program_source::ProgramSource;
use etbuild_engine::unit::Unit;
use etbuild_ir::Program;

/// All methods after a stage of a method.
pub fn methods(
    db: &dyn Db,
    unit: &Unit,
    stage: fn(&ProgramSource, &dyn Db, &str) -> StageResult,
) -> Result<Program, Blocked> {
    let failed = |found: Vec<Diagnostic>| Blocked::failed(Stage::Delegate, found);
    let mut joined = Program::default();
    for method in unit.program.archives.keys() {
        let stored = StoredProgram::of(stage(&unit.program, db, method)?)?;
        let (program, _) = stored.lowered(db.world()).map_err(failed)?;
        let graphs = program.into_program().methods.into_values();
        joined.methods.extend(graphs.map(|graph| (method.clone(), graph)));
    }
    Ok(joined)
}
