//! The verdict on a binary's outputs: the reference, the tolerance, the loss of accuracy.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_recipe::Verify;

use super::{UnitReport, Verification};
use crate::action::Blocked;
use crate::input::{Db, hashed_file};
use crate::pipeline::Stage;
use crate::unit::Unit;
use crate::verify::{Judgement, judge};

/// Judges the outputs of the binary, where the recipe names verification data.
pub fn judged(db: &dyn Db, unit: &Unit, outputs: &[u8], report: &mut UnitReport) -> Result<(), Blocked> {
    let (Some(files), Some(options)) = (&unit.link.verify, &unit.recipe.verify) else { return Ok(()) };
    let reference = hashed_file::read(db, files.reference.unwrap_or(files.inputs))
        .map_err(|found| Blocked::failed(Stage::Verify, found))?;
    let names = (options.outputs.as_str(), options.labels.as_str());
    let judgement =
        judge(outputs, &reference, names).map_err(|diagnostic| Blocked::failed(Stage::Verify, [diagnostic]))?;
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
