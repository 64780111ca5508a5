//! The loss of quantization, layer by layer, and the results of running the binary.

use etbuild_engine::{Answers, LayerLoss, Verification};
use serde::Serialize;

use crate::report::DeployReport;

/// The worst layers are shown at once, the other layers on demand.
const WORST: usize = 12;

/// More layers than this are not listed: the page stays small.
const MOST: usize = 3000;

/// Nobody hears the difference beyond: the end of the scale, in decibels.
const BEST: f64 = 60.0;

#[derive(Serialize)]
pub struct View {
    quantizes: bool,
    /// Right answers on labelled data before and after.
    answers: Vec<(&'static str, String)>,
    /// The diagnostics that prevent the measurement.
    problems: Vec<String>,
    worst: Vec<Layer>,
    others: Vec<Layer>,
    left_out: usize,
    /// The results of the run.
    verification: Vec<(&'static str, String)>,
}

#[derive(Serialize)]
struct Layer {
    value: String,
    operator: String,
    module: String,
    quantized: bool,
    sqnr: String,
    /// Of the scale, in percent.
    width: String,
    class: &'static str,
}

pub fn view(report: &DeployReport) -> View {
    let losses = report.accuracy.as_ref();
    let layers: Vec<&LayerLoss> = losses.iter().flat_map(|losses| &losses.layers).collect();
    let problems = losses.iter().flat_map(|losses| &losses.diagnostics);
    View {
        quantizes: losses.is_some(),
        answers: losses.and_then(|losses| losses.answers).map(answers).unwrap_or_default(),
        problems: problems.map(|found| format!("{}: {}", found.code, found.message)).collect(),
        worst: layers.iter().take(WORST).map(|loss| layer(loss)).collect(),
        others: layers.iter().take(MOST).skip(WORST).map(|loss| layer(loss)).collect(),
        left_out: layers.len().saturating_sub(MOST),
        verification: verification(&report.deploy.verification),
    }
}

fn answers(answers: Answers) -> Vec<(&'static str, String)> {
    let [before, after] = answers.shares();
    vec![
        ("Right before", format!("{before:.2} %")),
        ("Right after", format!("{after:.2} %")),
        ("Points lost", format!("{:.2} of {} cases", answers.lost(), answers.cases)),
    ]
}

fn layer(loss: &LayerLoss) -> Layer {
    Layer {
        value: loss.value.clone(),
        operator: loss.operator.clone(),
        module: loss.module.clone().unwrap_or_default(),
        quantized: loss.quantized,
        sqnr: format!("{:.1} dB", loss.sqnr),
        width: super::percent(loss.sqnr.clamp(0.0, BEST), BEST),
        class: match loss.sqnr {
            ..20.0 => "bad",
            ..30.0 => "fair",
            _ => "good",
        },
    }
}

fn verification(verification: &Verification) -> Vec<(&'static str, String)> {
    let Verification::Done(judgement) = verification else { return Vec::new() };
    let correct = judgement.correct.zip(judgement.accuracy());
    let correct = correct.map(|(correct, share)| {
        ("Right answers", format!("{correct} of {} ({:.2} %)", judgement.cases, share * 100.0))
    });
    let same = ("As the reference", format!("{} of {}", judgement.same_prediction, judgement.cases));
    let error = ("Largest error", format!("{:.2e}", judgement.max_error));
    correct.into_iter().chain([same, error]).collect()
}
