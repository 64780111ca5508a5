//! Firmware on a board: flashed, run on the verification cases inside it, and judged.

use std::slice;
use std::time::Duration;

use etbuild_link::report;
use etbuild_target::Run;

use super::on_each::{Given, away, folder_here, on_each};
use super::{UnitReport, bench, bits};
use crate::action::{ArtifactKind, Blocked};
use crate::device::{Firmware, Line};
use crate::input::Db;
use crate::link::{Maker, read_interface};
use crate::pipeline::Stage;
use crate::unit::Unit;
use crate::verify::Cost;
use crate::verify::board_report::{self, ConsoleOutputs};

/// The time limit of firmware without verification cases.
const ONCE: Duration = Duration::from_secs(60);

/// Flashes the board of the unit's target, and judges the report. Nothing of that is cached: the board may be another one than before.
pub fn on_board(db: &dyn Db, unit: &Unit, maker: &Maker, line: &Line, report: &mut UnitReport) -> Result<(), Blocked> {
    let Run::Device(board) = unit.target.run() else { return Ok(()) };
    let world = db.world();
    let (emitted, linked) = (unit.emitted(db)?, unit.linked(db, maker)?);
    let here = folder_here()?;
    let binary = here.path().join(unit.name());
    let blob = linked.blob(ArtifactKind::Binary)?;
    world.materialise(&blob, &binary, true);
    let image = match board.drive {
        Some(_) => world.open_blob(&linked.blob(ArtifactKind::Image)?).to_vec(),
        None => Vec::new(),
    };
    let bytes = world.open_blob(&blob);
    let Some(banner) = report::banner_in(&bytes) else {
        return Err(Blocked::internal(Stage::Verify, "firmware has no banner"));
    };
    let firmware = Firmware {
        system: world.system(),
        board,
        console: unit.target.console(),
        binary: &binary,
        image: (&format!("{}.uf2", unit.name()), &image),
        banner,
        timeout: unit.recipe.verify.as_ref().map_or(ONCE, |options| options.timeout.0),
    };
    let method = read_interface(db, &emitted)?.method();
    let outputs = method.map(ConsoleOutputs::of).unwrap_or_default();
    let console = firmware.run(line).map_err(away)?;
    let found = board_report::read(&console, &outputs).map_err(|found| Blocked::failed(Stage::Verify, found))?;
    report.cost = Some(Cost::on_board(&unit.target, &found.effort));
    on_each(db, unit, slice::from_ref(line), report, |line| {
        Ok(Given { note: format!("run on the board at `{line}`"), outputs: Some(found.outputs.clone()) })
    })?;
    bits::compare(db, unit, maker, &found.outputs, report)?;
    bench::counted(unit, report)
}
