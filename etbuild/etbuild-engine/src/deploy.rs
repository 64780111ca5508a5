//! Building, verifying and writing out units, several at a time.

use std::path::Path;
use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_link::SizeReport;
use etbuild_recipe::Verify;
use etbuild_store::{ActionKey, Root};

use crate::db::{Db, EngineDatabase};
use crate::environment::{self, Runner, Tools};
use crate::fallback::Fallback;
use crate::guard::{guarded, or_again};
use crate::judge::{Judgement, judge};
use crate::package::{self, Deliverable};
use crate::partitions;
use crate::program_file::data_files;
use crate::quantization;
use crate::query;
use crate::remote::Remote;
use crate::report::{UnitReport, Verification, stage_name};
use crate::resolve::{Request, resolve};
use crate::schedule::side_by_side;
use crate::stage::{Blocked, Failed, Stage, StageResult, Staged, Transient};
use crate::unchanged;
use crate::unit::Unit;
use crate::world::World;
use crate::{ArtifactKind, budget, failure};

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Binaries in the output folder.
    Build,
    /// The same, and run where that is possible.
    Deploy,
}

/// Builds every unit of a request and returns a report of each unit, in the order of recipes and targets. A unit that fails
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
    Ok(reports.map(|report| with(report, &settled)).collect())
}

/// A required remote cache that refuses results of stages fails every unit.
fn with(mut report: UnitReport, settled: &Result<(), Box<Diagnostic>>) -> UnitReport {
    if let Err(diagnostic) = settled {
        report.diagnostics.push((**diagnostic).clone());
    }
    report
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
        None if matches!(failed.stage, Stage::Quantize | Stage::Measure) => quantization::placed(unit, diagnostic),
        None => diagnostic.clone().at(span.clone()),
    };
    failed.diagnostics.iter().map(place).collect()
}

fn failed(unit: &Unit, transient: Transient) -> UnitReport {
    let mut report = UnitReport::new(unit.name(), unit.target.name());
    report.diagnostics.push(transient.into());
    report
}

fn build(db: &dyn Db, unit: &Unit, goal: Goal, out: &Path, report: &mut UnitReport) -> Result<(), Blocked> {
    let mut widened = false;
    for (method, archive) in &unit.archives {
        let part = unit.part(method);
        let mut note = |result: StageResult| result.inspect(|staged| noted(db, unit, part, staged, report));
        if let Some(python) = archive.python() {
            note(query::exported(db, python))?;
        }
        note(query::imported(db, *archive))?;
        let options = query::lower_options(db, &unit.archives, method, &unit.plan)?;
        widened |= options.widens_halves;
        note(query::lowered(db, *archive, options))?;
        if unit.plan.quantize.is_some() {
            note(query::prepared(db, &unit.archives, (method, *archive), &unit.plan))?;
        }
        if let Some(measured) = quantization::judged(db, unit, method) {
            note(measured)?;
        }
        if !unit.plan.partition.engines.is_empty() {
            note(query::finished(db, &unit.archives, (method, *archive), &unit.plan))?;
        }
    }
    if widened {
        report
            .notes
            .push("float16 and bfloat16 are computed in float32; inputs and outputs keep their types".to_owned());
    }
    note_speed(db, unit, report)?;
    let mut note = |result: StageResult| result.inspect(|staged| noted(db, unit, None, staged, report));
    note(query::planned(db, unit.archives.clone(), unit.plan.clone()))?;
    let emitted = note(query::emitted(db, unit.archives.clone(), unit.plan.clone(), unit.file.clone()))?;
    let tools = match environment::tools(db.world(), &unit.target) {
        Ok(tools) => tools,
        Err(reason) if goal == Goal::Deploy => {
            report.verification = Verification::Skipped { reason };
            return Ok(());
        }
        Err(reason) => return Err(Blocked::failed(Stage::Link, [*reason])),
    };
    note(query::selected(db, unit.clone(), tools.clone()))?;
    let linked = note(query::linked(db, unit.clone(), tools.clone()))?;
    check_budget(db, unit, &emitted, &linked, report)?;
    let verified = if goal == Goal::Deploy { verify(db, unit, &tools, report) } else { Ok(()) };
    let folder = out.join(unit.folder());
    let deliverables = deliverables(unit, &emitted, &linked)?;
    let name = (unit.name(), unit.target.name());
    report.files = package::write(db.world(), &folder, name, &deliverables, &report.stages);
    keep(db, unit, &folder, report);
    verified
}

/// Notes for the report what runs on portable kernels although backends were asked, and int8 that is slower than `float32`.
fn note_speed(db: &dyn Db, unit: &Unit, report: &mut UnitReport) -> Result<(), Blocked> {
    let asked = !unit.plan.partition.engines.is_empty();
    let nodes = if asked { partitions::nodes(db, unit)? } else { Vec::new() };
    report.fallback = Fallback::of(&nodes);
    let computes_int8 =
        unit.plan.quantize.as_ref().is_some_and(|quantize| quantize.options.scheme.rounds_activations());
    if computes_int8 && nodes.iter().all(|node| node.partition.is_none()) {
        let note =
            "int8 on portable kernels is computed in float32 between conversions: slower than the model in float32";
        report.notes.push(note.to_owned());
    }
    Ok(())
}

/// Keeps the artifacts of the unit from garbage collection, for as long as the results are in the folder.
fn keep(db: &dyn Db, unit: &Unit, folder: &Path, report: &UnitReport) {
    let witness = std::path::absolute(folder.join("manifest.json")).unwrap_or_default();
    let actions = report.stages.iter().filter_map(|row| row.key.parse().ok().map(ActionKey)).collect();
    // Without the root, a later deploy may have to run a stage again.
    let _ = db.world().store().keep(&Root { name: unit.instance(), witness, actions });
}

/// Notes a stage for the report and, for `explain`, the key of the stage.
fn noted(db: &dyn Db, unit: &Unit, method: Option<&str>, staged: &Staged, report: &mut UnitReport) {
    report.staged(staged, method);
    // Only an explanation is lost where this fails.
    let _ = db.world().store().remember(&slot(unit, staged.stage, method), &staged.key);
}

/// The name under which the last key of a unit's stage is remembered.
pub fn slot(unit: &Unit, stage: Stage, method: Option<&str>) -> String {
    format!("{}/{}/{}", unit.name(), unit.target.name(), stage_name(stage.name(), method))
}

fn check_budget(
    db: &dyn Db,
    unit: &Unit,
    emitted: &Staged,
    linked: &Staged,
    report: &mut UnitReport,
) -> Result<(), Blocked> {
    let bytes = db.world().open_blob(&linked.blob(ArtifactKind::Sizes)?);
    let sizes: SizeReport =
        serde_json::from_slice(&bytes).map_err(|error| Blocked::internal(Stage::Link, &error.to_string()))?;
    report.sizes = Some(sizes);
    let data: u64 = data_files(emitted).iter().map(|(_, data)| data.size).sum();
    let file = emitted.blob(ArtifactKind::ProgramFile)?.size + data;
    let exceeded = budget::exceeded(&unit.recipe.budget, file, &sizes);
    if exceeded.is_empty() { Ok(()) } else { Err(Blocked::failed(Stage::Link, exceeded)) }
}

fn deliverables(unit: &Unit, emitted: &Staged, linked: &Staged) -> Result<Vec<Deliverable>, Blocked> {
    let name = unit.name();
    let mut files = vec![
        Deliverable { name: name.to_owned(), blob: linked.blob(ArtifactKind::Binary)?, executable: true },
        Deliverable { name: format!("{name}.pte"), blob: emitted.blob(ArtifactKind::ProgramFile)?, executable: false },
        Deliverable { name: "size.json".to_owned(), blob: linked.blob(ArtifactKind::Sizes)?, executable: false },
    ];
    for (ending, blob) in data_files(emitted) {
        files.push(Deliverable { name: format!("{name}.{ending}"), blob, executable: false });
    }
    if let Some(library) = linked.artifacts.get(ArtifactKind::Library) {
        files.push(Deliverable { name: format!("lib{name}.a"), blob: library.blob(), executable: false });
        files.push(Deliverable {
            name: "etbuild.h".to_owned(),
            blob: linked.blob(ArtifactKind::Header)?,
            executable: false,
        });
    }
    if let Some(image) = linked.artifacts.get(ArtifactKind::Image) {
        files.push(Deliverable { name: format!("{name}.uf2"), blob: image.blob(), executable: false });
    }
    Ok(files)
}

/// Runs the binary, where the recipe names inputs and the machine has a runner, and judges the outputs.
fn verify(db: &dyn Db, unit: &Unit, tools: &Tools, report: &mut UnitReport) -> Result<(), Blocked> {
    let (Some(inputs), Some(options)) = (unit.verify, &unit.recipe.verify) else { return Ok(()) };
    let runner = match environment::runner(db.world(), &unit.target) {
        Ok(Runner::Drive(drive)) => return install(db, unit, tools, &drive, report),
        Ok(runner) => runner,
        Err(reason) => {
            report.verification = Verification::Skipped { reason };
            return Ok(());
        }
    };
    let verified = query::verified(db, unit.clone(), tools.clone(), runner, inputs)?;
    noted(db, unit, None, &verified, report);
    let outputs = db.world().open_blob(&verified.blob(ArtifactKind::Outputs)?);
    let reference = unchanged::read(db, inputs).map_err(|found| Blocked::failed(Stage::Verify, found))?;
    let names = (options.outputs.as_str(), options.labels.as_str());
    let judgement =
        judge(&outputs, &reference, names).map_err(|diagnostic| Blocked::failed(Stage::Verify, [diagnostic]))?;
    let verdict = verdict(unit, &judgement);
    report.verification = Verification::Done(judgement);
    verdict
}

fn verdict(unit: &Unit, judgement: &Judgement) -> Result<(), Blocked> {
    let Some(options) = &unit.recipe.verify else { return Ok(()) };
    let found: Vec<Diagnostic> =
        beyond_tolerance(unit, options, judgement).into_iter().chain(beyond_loss(unit, options, judgement)).collect();
    if found.is_empty() { Ok(()) } else { Err(Blocked::failed(Stage::Verify, found)) }
}

fn beyond_tolerance(unit: &Unit, options: &Verify, judgement: &Judgement) -> Option<Diagnostic> {
    let tolerance = options.tolerance()?.value();
    let error = judgement.max_error;
    let message =
        format!("{} differs from the reference by {error:e}, the tolerance is {tolerance:e}", unit.instance());
    let diagnostic = Diagnostic::error(Code::AccuracyFailed, message);
    let diagnostic = match &options.tolerance {
        Some(written) => diagnostic.at((*written.span).clone()),
        None => diagnostic,
    };
    (error > tolerance).then_some(diagnostic)
}

fn beyond_loss(unit: &Unit, options: &Verify, judgement: &Judgement) -> Option<Diagnostic> {
    let limit = options.max_loss.as_ref()?;
    let Some(answers) = judgement.answers() else {
        let message = format!("accuracy is judged by labels, and the data has no tensor `{}`", options.labels);
        let diagnostic = Diagnostic::error(Code::LabelsMismatch, message).at((*options.inputs.span).clone());
        return Some(diagnostic.help("name the tensor of right classes in `verify.labels`, or leave `max_loss` out"));
    };
    let (lost, most, [before, after]) = (answers.lost(), limit.value.value(), answers.shares());
    let message = format!(
        "{} loses {lost:.2} points of accuracy ({before:.2} % to {after:.2} %), {most} are allowed",
        unit.instance()
    );
    let help = "`etbuild report` shows which layers lose most; `quantize.layers` keeps them real";
    let diagnostic = Diagnostic::error(Code::AccuracyLost, message).at((*limit.span).clone()).help(help);
    (lost > most).then_some(diagnostic)
}

/// Copies the image to a board that appears as a drive. The board reports on a console.
fn install(db: &dyn Db, unit: &Unit, tools: &Tools, drive: &Path, report: &mut UnitReport) -> Result<(), Blocked> {
    let linked = query::linked(db, unit.clone(), tools.clone())?;
    let image = db.world().open_blob(&linked.blob(ArtifactKind::Image)?);
    let path = drive.join(format!("{}.uf2", unit.name()));
    let written = db.world().system().write(&path, &image, false);
    written.map_err(|error| Blocked::failed(Stage::Verify, failure::unreadable(&path, &error)))?;
    let message = format!("installed on the board at `{}`; its report is on its console", drive.display());
    report.verification = Verification::Skipped { reason: Box::new(Diagnostic::warning(Code::DeviceMissing, message)) };
    Ok(())
}
