//! Running the binary of a unit, and judging the outputs.

use std::path::Path;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_target::Run;

use super::on_board::on_board;
use super::on_device::on_device;
use super::on_each::away;
use super::record::noted;
use super::verdict::judged;
use super::{UnitReport, Verification};
use super::{bench, bits};
use crate::action::{ArtifactKind, Blocked, Staged};
use crate::device;
use crate::input::Db;
use crate::link::{Maker, read_interface};
use crate::pipeline::Stage;
use crate::unit::Unit;
use crate::verify::{self, Cost, Runner};

/// Runs the binary, where the recipe names inputs and the machine has a runner, and judges the outputs.
pub fn verify(db: &dyn Db, unit: &Unit, maker: &Maker, report: &mut UnitReport) -> Result<(), Blocked> {
    let shells = verify::shells(db.world(), &unit.target);
    if !shells.is_empty() {
        return on_device(db, unit, maker, &shells, report);
    }
    if let Some(line) = verify::board(db.world(), &unit.target) {
        return on_board(db, unit, maker, &line, report);
    }
    if let Some(reason) = needs_device(db, unit)? {
        report.verification = Verification::Skipped { reason: Box::new(reason) };
        return Ok(());
    }
    if unit.link.verify.is_none() {
        return Ok(());
    }
    let runner = match verify::runner(db.world(), &unit.target) {
        Ok(Runner::Drive(drive)) => return install(db, unit, maker, &drive, report),
        Ok(runner) => runner,
        Err(reason) if bench::is_asked(unit) => return Err(Blocked::failed(Stage::Verify, [*reason])),
        Err(reason) => {
            report.verification = Verification::Skipped { reason };
            return Ok(());
        }
    };
    let twin = runner.twin().map(|tools| twin_note(&tools.target.triple));
    let model = matches!(runner, Runner::Model { .. }).then(|| MODEL_NOTE.to_owned());
    let Some(verified) = unit.verified(db, maker, runner).transpose()? else { return Ok(()) };
    noted(db, unit, None, &verified, report);
    report.notes.extend(twin.into_iter().chain(model));
    report.cost = cost(db, unit, &verified);
    let outputs = db.world().open_blob(&verified.blob(ArtifactKind::Outputs)?);
    judged(db, unit, &outputs, report)?;
    bits::compare(db, unit, maker, &outputs, report)?;
    bench::counted(unit, report)
}

/// What the report says about a run without the binary.
const MODEL_NOTE: &str = "verified as a program file on this machine: command streams, if any, executed on a model of the NPU, other operators natively";

/// What the report says about a run of the twin.
fn twin_note(triple: &str) -> String {
    format!(
        "verified as a binary for {triple}: the same crates and program file, with a C library that the emulator runs"
    )
}

/// The reason why no emulator here can run the binary: partitions whose libraries only the device has.
fn needs_device(db: &dyn Db, unit: &Unit) -> Result<Option<Diagnostic>, Blocked> {
    let Run::Emulator(emulator) = unit.target.run() else { return Ok(None) };
    let rust = emulator.twin.as_ref().unwrap_or_else(|| unit.target.rust());
    let emitted = unit.emitted(db)?;
    let interface = read_interface(db, &emitted)?;
    let backends = interface.backends(db.world().engines()).filter(|backend| backend.opens_libraries());
    let names: Vec<String> = backends.map(|backend| format!("`{}`", backend.name())).collect();
    if names.is_empty() {
        return Ok(None);
    }
    let names = names.join(" and ");
    let (message, help) = match rust.triple.as_str().starts_with("wasm32-") {
        true => (
            format!("not run here: partitions of {names} need a page with WebGPU, and `{}` has none", emulator.program),
            "load the package of `library: true` in a page: docs/web.md#gpu",
        ),
        false if rust.crt_static => (
            format!("not run here: partitions of {names} open libraries of the device"),
            "run the binary on the device: docs/targets.md#devices",
        ),
        false => return Ok(None),
    };
    Ok(Some(Diagnostic::warning(Code::NotVerified, message).help(help)))
}

/// What an inference cost on a board.
fn cost(db: &dyn Db, unit: &Unit, verified: &Staged) -> Option<Cost> {
    let effort = db.world().open_blob(&verified.artifacts.get(ArtifactKind::Effort)?.blob());
    Some(Cost::of(&unit.target, &serde_json::from_slice(&effort).ok()?))
}

/// Copies the image to a board that appears as a drive. The board reports on a console.
fn install(db: &dyn Db, unit: &Unit, maker: &Maker, drive: &Path, report: &mut UnitReport) -> Result<(), Blocked> {
    let linked = unit.linked(db, maker)?;
    let image = db.world().open_blob(&linked.blob(ArtifactKind::Image)?);
    let name = format!("{}.uf2", unit.name());
    device::install(db.world().system(), drive, (&name, &image)).map_err(away)?;
    let message = format!("installed on the board at `{}`; its report is on its console", drive.display());
    report.verification = Verification::Skipped { reason: Box::new(Diagnostic::warning(Code::DeviceMissing, message)) };
    Ok(())
}
