//! Building, verifying and writing out units, several at a time.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_target::{Kind, Run};

use super::build::{Goal, build};
use super::{UnitReport, android, apple, bench, limits};
use crate::action::{Blocked, Failed};
use crate::device::{Device, Line, Shell};
use crate::failure;
use crate::input::EngineDatabase;
use crate::pipeline::Stage;
use crate::request::{Request, resolve};
use crate::session::{Remote, Transient, World, guarded, or_again, side_by_side};
use crate::unit::Unit;

/// Brings every unit of a request to the goal and returns a report of each unit, in the order of recipes and targets. A unit that fails
/// does not keep the other units from being built.
///
/// # Errors
/// Mistakes in the recipes, before the first stage runs; an interrupted command.
pub fn deploy(
    world: &Arc<World>,
    request: &Request,
    goal: Goal,
    out: &Path,
) -> Result<Vec<UnitReport>, Vec<Diagnostic>> {
    let lease = world.store().lease().map_err(|error| vec![Transient::from(error).into()])?;
    world.remote().map_or(Ok(()), Remote::greet_required).map_err(|diagnostic| vec![*diagnostic])?;
    let db = EngineDatabase::new(world.clone());
    let units = resolve_guarded(&db, request)?;
    let measured = || if goal == Goal::Deploy { bench::mistake(world, &units) } else { None };
    if let Some(mistake) = device_mistake(world, &units).or_else(measured) {
        return Err(vec![mistake]);
    }
    let reports = side_by_side(units.len(), world.jobs(), &db, |db, index| {
        let first = attempt(db, &units[index], goal, out);
        or_again(world, first, || again(world, request, index, goal, out))
    });
    let settled = world.remote().map_or(Ok(()), |remote| remote.settle());
    drop(lease);
    if world.system().is_interrupted() {
        return Err(vec![Transient::Interrupted.into()]);
    }
    let outcomes = reports.into_iter().zip(&units);
    let reports = outcomes.map(|(outcome, unit)| outcome.unwrap_or_else(|transient| failed(unit, transient)));
    let mut reports: Vec<UnitReport> = reports.map(|report| with(report, &settled)).collect();
    android::join_processors(world, &units, &mut reports, out);
    apple::join_platforms(&db, &units, &mut reports, out);
    Ok(reports)
}

/// A required remote cache that refuses results of stages fails every unit.
fn with(mut report: UnitReport, settled: &Result<(), Box<Diagnostic>>) -> UnitReport {
    if let Err(diagnostic) = settled {
        report.diagnostics.push((**diagnostic).clone());
    }
    report
}

/// Devices run the binaries of one target. Two runs on one device would be in each other's way, and a program that flashes takes the first
/// board that it finds.
fn device_mistake(world: &World, units: &[Unit]) -> Option<Diagnostic> {
    let devices = world.devices();
    let twice = devices.iter().enumerate().find(|(index, device)| devices[..*index].contains(device));
    if let Some((_, device)) = twice {
        let message = format!("device `{device}` is named twice");
        return Some(Diagnostic::error(Code::Usage, message).help("name each device once"));
    }
    let is_adb = |device: &&Device, is_named: bool| matches!(device, Device::Shell(Shell::Adb(serial)) if serial.is_some() == is_named);
    if let Some(named) = devices.iter().find(|device| is_adb(device, true))
        && devices.iter().any(|device| is_adb(&device, false))
    {
        let message = format!("device `adb` may be the device `{named}`");
        let help = "name each device by its serial number, `adb:SERIAL`; `adb devices` lists serial numbers";
        return Some(Diagnostic::error(Code::Usage, message).help(help));
    }
    let boards = devices.iter().filter(|device| matches!(device, Device::Board(_))).count();
    if boards > 1 {
        let message = format!("one board is flashed at a time, and the request names {boards}");
        return Some(Diagnostic::error(Code::Usage, message).help("deploy to one board after the other"));
    }
    devices.iter().find_map(|device| match device {
        Device::Shell(device) => shell_mistake(device, units),
        Device::Board(line) => board_mistake(line, units),
    })
}

/// A board runs the firmware of a target that says how the board is flashed.
fn board_mistake(line: &Line, units: &[Unit]) -> Option<Diagnostic> {
    let firmware = || units.iter().filter(|unit| unit.target.kind() == Kind::BareMetal);
    if let Some(unit) = firmware().find(|unit| !matches!(unit.target.run(), Run::Device(_))) {
        let message = format!("`{}` does not say how its board is flashed", unit.target.name());
        let help = "write `run: { device: probe }` or `{ device: { flash: ... } }` in the target: docs/targets.md#run";
        return Some(Diagnostic::error(Code::Usage, message).help(help));
    }
    if let Some(mistake) = firmware().find_map(|unit| line.check(unit.target.console()).err()) {
        return Some(mistake);
    }
    match firmware().count() {
        1 => None,
        count => {
            let message =
                format!("board `{line}` takes the firmware of one recipe and target, and the request has {count}");
            Some(Diagnostic::error(Code::Usage, message).help("name the board's target: `--target pico2`"))
        }
    }
}

fn shell_mistake(device: &Shell, units: &[Unit]) -> Option<Diagnostic> {
    let hosted = || units.iter().filter(|unit| unit.target.kind() == Kind::Hosted);
    if hosted().any(|unit| unit.target.is_wasm()) {
        let message = format!("device `{device}` runs no WebAssembly");
        return Some(Diagnostic::error(Code::Usage, message).help("leave out `--device`, or name another `--target`"));
    }
    if let Some(unit) = hosted().find(|unit| !unit.target.has_binary()) {
        let message = format!("device `{device}` runs binaries, and `{}` has none", unit.target.name());
        return Some(Diagnostic::error(Code::Usage, message).help("leave out `--device`, or name another `--target`"));
    }
    let targets: BTreeSet<&str> = hosted().map(|unit| unit.target.name()).collect();
    let message =
        format!("device `{device}` runs the binaries of one hosted target, and the request has {}", targets.len());
    let help = "name the device's target: `--target android-arm64`";
    (targets.len() != 1).then(|| Diagnostic::error(Code::Usage, message).help(help))
}

fn resolve_guarded(db: &EngineDatabase, request: &Request) -> Result<Vec<Unit>, Vec<Diagnostic>> {
    guarded(|| resolve(db, request)).unwrap_or_else(|transient| Err(vec![transient.into()]))
}

type Attempt = Result<UnitReport, Transient>;

/// Tries again from an empty database.
fn again(world: &Arc<World>, request: &Request, index: usize, goal: Goal, out: &Path) -> Attempt {
    let db = EngineDatabase::new(world.clone());
    let units = resolve_guarded(&db, request).unwrap_or_default();
    units.get(index).map_or(Err(Transient::Elsewhere), |unit| attempt(&db, unit, goal, out))
}

fn attempt(db: &EngineDatabase, unit: &Unit, goal: Goal, out: &Path) -> Attempt {
    let mut report = UnitReport::new(unit.name(), unit.target.name());
    guarded(|| match build(db, unit, goal, out, &mut report) {
        Ok(()) => {}
        Err(Blocked::Failed(failed)) => report.diagnostics.extend(placed(unit, &failed)),
        Err(Blocked::Missing(_) | Blocked::Waiting) => {
            report.diagnostics.extend(failure::internal("a stage did not run"))
        }
    })?;
    Ok(report)
}

/// The diagnostics of a stage. Stages know no recipe: a diagnostic without a place gets the place of the model or the target.
fn placed(unit: &Unit, failed: &Failed) -> Vec<Diagnostic> {
    let model = unit.recipe.model.span();
    let target = unit.recipe.targets.iter().find(|target| target.value == unit.target.name());
    let span = match (failed.stage, target) {
        (Stage::Export | Stage::Import | Stage::Lower | Stage::Delegate, _) | (_, None) => model,
        (_, Some(target)) => &*target.span,
    };
    let place = |diagnostic: &Diagnostic| match diagnostic.span {
        Some(_) => diagnostic.clone(),
        None if matches!(failed.stage, Stage::Quantize | Stage::Measure) => limits::placed(unit, diagnostic),
        None if failed.stage == Stage::Emit && diagnostic.code == Code::InputsMismatch => {
            let inputs = unit.recipe.inputs.as_ref().map_or(span, |inputs| &*inputs.span);
            diagnostic.clone().at(inputs.clone())
        }
        None if failed.stage == Stage::Emit && diagnostic.code == Code::LabelsMismatch => {
            let labels = unit.recipe.labels.as_ref().map_or(span, |labels| &*labels.span);
            diagnostic.clone().at(labels.clone())
        }
        None if is_of_verification_data(diagnostic.code) && unit.recipe.verify.is_some() => {
            let data = unit.recipe.verify.as_ref().map_or(span, |verify| &verify.inputs.span);
            diagnostic.clone().at(data.clone())
        }
        None => diagnostic.clone().at(span.clone()),
    };
    failed.diagnostics.iter().map(place).collect()
}

/// Whether a diagnostic is about the file of `verify:`.
fn is_of_verification_data(code: Code) -> bool {
    matches!(code, Code::InputsMismatch | Code::FileUnreadable)
}

fn failed(unit: &Unit, transient: Transient) -> UnitReport {
    let mut report = UnitReport::new(unit.name(), unit.target.name());
    report.diagnostics.push(transient.into());
    report
}
