//! Running the binary of a unit, and judging the outputs.

use std::path::Path;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_recipe::Verify;

use super::record::noted;
use super::{UnitReport, Verification};
use crate::action::{ArtifactKind, Blocked, Staged};
use crate::failure;
use crate::input::{Db, hashed_file};
use crate::link::Tools;
use crate::pipeline::Stage;
use crate::unit::Unit;
use crate::verify::{self, Cost, Judgement, Runner, judge};

/// Runs the binary, where the recipe names inputs and the machine has a runner, and judges the outputs.
pub fn verify(db: &dyn Db, unit: &Unit, tools: &Tools, report: &mut UnitReport) -> Result<(), Blocked> {
    let (Some(files), Some(options)) = (&unit.link.verify, &unit.recipe.verify) else { return Ok(()) };
    let runner = match verify::runner(db.world(), &unit.target) {
        Ok(Runner::Drive(drive)) => return install(db, unit, tools, &drive, report),
        Ok(runner) => runner,
        Err(reason) => {
            report.verification = Verification::Skipped { reason };
            return Ok(());
        }
    };
    let Some(verified) = unit.verified(db, tools, runner).transpose()? else { return Ok(()) };
    noted(db, unit, None, &verified, report);
    let outputs = db.world().open_blob(&verified.blob(ArtifactKind::Outputs)?);
    let reference = hashed_file::read(db, files.reference.unwrap_or(files.inputs))
        .map_err(|found| Blocked::failed(Stage::Verify, found))?;
    let names = (options.outputs.as_str(), options.labels.as_str());
    let judgement =
        judge(&outputs, &reference, names).map_err(|diagnostic| Blocked::failed(Stage::Verify, [diagnostic]))?;
    report.cost = cost(db, unit, &verified);
    let verdict = verdict(unit, &judgement);
    report.verification = Verification::Done(judgement);
    verdict
}

/// What an inference cost on a board.
fn cost(db: &dyn Db, unit: &Unit, verified: &Staged) -> Option<Cost> {
    let effort = db.world().open_blob(&verified.artifacts.get(ArtifactKind::Effort)?.blob());
    Some(Cost::of(&unit.target, serde_json::from_slice(&effort).ok()?))
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
    let linked = unit.linked(db, tools)?;
    let image = db.world().open_blob(&linked.blob(ArtifactKind::Image)?);
    let path = drive.join(format!("{}.uf2", unit.name()));
    let written = db.world().system().write(&path, &image, false);
    written.map_err(|error| Blocked::failed(Stage::Verify, failure::unreadable(&path, &error)))?;
    let message = format!("installed on the board at `{}`; its report is on its console", drive.display());
    report.verification = Verification::Skipped { reason: Box::new(Diagnostic::warning(Code::DeviceMissing, message)) };
    Ok(())
}
