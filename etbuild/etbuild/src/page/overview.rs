//! The head of the page: the main figures, the diagnostics, and the graph of stages.

use etbuild_engine::{StackUse, StageRow, Verification};
use serde::Serialize;

use super::duration;
use crate::render::bytes;
use crate::report::DeployReport;

#[derive(Serialize)]
pub struct View {
    recipe: String,
    target: String,
    /// Name and value.
    figures: Vec<(&'static str, String)>,
    diagnostics: Vec<Finding>,
    stages: Vec<Stage>,
    stage_summary: String,
    files: Vec<File>,
}

/// A diagnostic.
#[derive(Serialize)]
pub struct Finding {
    severity: &'static str,
    code: String,
    message: String,
    help: Option<String>,
}

impl Finding {
    /// The code of the diagnostic.
    pub fn code(&self) -> &str {
        &self.code
    }
}

#[derive(Serialize)]
struct Stage {
    name: String,
    cached: bool,
    fetched: bool,
    time: String,
    /// Of the time of all stages, in percent.
    width: String,
    key: String,
}

#[derive(Serialize)]
struct File {
    name: String,
    size: String,
    digest: String,
}

pub fn view(report: &DeployReport) -> View {
    let deploy = &report.deploy;
    let whole = milliseconds(report);
    let cached = deploy.stages.iter().filter(|row| row.cached).count();
    let file = |file: &etbuild_engine::OutputFile| File {
        name: file.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        size: bytes(file.size),
        digest: file.digest.clone(),
    };
    View {
        recipe: deploy.recipe.clone(),
        target: deploy.target.clone(),
        figures: figures(report),
        diagnostics: findings(report),
        stages: deploy.stages.iter().map(|row| stage(row, whole)).collect(),
        stage_summary: format!("{} stages, {cached} from the cache, {}", deploy.stages.len(), duration(whole)),
        files: deploy.files.iter().map(file).collect(),
    }
}

/// The time of all stages.
fn milliseconds(report: &DeployReport) -> u64 {
    report.deploy.stages.iter().map(|row| row.milliseconds).sum()
}

/// The main figures by name.
pub fn figures(report: &DeployReport) -> Vec<(&'static str, String)> {
    let mut figures = Vec::new();
    if let Some(sizes) = &report.sizes {
        figures.push(("Program", bytes(sizes.program)));
        figures.push(("Binary", bytes(sizes.binary)));
    }
    if let Some(sizes) = report.deploy.sizes.filter(|sizes| sizes.stack > 0) {
        figures.push(("Flash", bytes(sizes.flash())));
        figures.push(("RAM", bytes(sizes.ram())));
        figures.push(("Arena", bytes(sizes.arena)));
        figures.push(("Static RAM", bytes(sizes.static_ram())));
        figures.push(("Stack", bytes(sizes.stack)));
        figures.push(("Test data in flash", bytes(sizes.verify)));
    }
    if let Some(cost) = &report.deploy.cost {
        figures.push(("Stack in use", bytes(cost.stack.into())));
        figures.extend(cost.instructions.map(|count| ("Instructions of an inference", count.to_string())));
        figures.extend(cost.cycles.map(|count| ("Cycles of an inference", count.to_string())));
        let time = cost.estimated_milliseconds.map(|time| ("Estimated time of an inference", format!("{time:.2} ms")));
        figures.extend(time);
    }
    let equal = report.deploy.same_bits.map(|same| if same { "equal" } else { "differ" });
    figures.extend(equal.map(|equal| ("Bits beside the program file on this machine", equal.to_owned())));
    if let Some(bound) = report.deploy.stack.as_ref().and_then(StackUse::bound) {
        figures.push(("Stack bound", bytes(bound.bytes.into())));
    }
    let arenas = report.anatomy.memory.iter().flat_map(|method| &method.arenas).map(|arena| arena.size).sum();
    if !report.anatomy.memory.is_empty() {
        figures.push(("Planned memory", bytes(arenas)));
    }
    figures.extend(accuracy(&report.deploy.verification));
    figures.push(("Build time", duration(milliseconds(report))));
    figures
}

fn accuracy(verification: &Verification) -> Option<(&'static str, String)> {
    match verification {
        Verification::Done(judgement) => Some(match judgement.accuracy() {
            Some(share) => ("Accuracy", format!("{:.2} %", share * 100.0)),
            None => ("As PyTorch", format!("{} of {}", judgement.same_prediction, judgement.cases)),
        }),
        Verification::Skipped { .. } => Some(("Accuracy", "not run here".to_owned())),
        Verification::None => None,
    }
}

/// The diagnostics of the deploy and of the verification.
pub fn findings(report: &DeployReport) -> Vec<Finding> {
    let skipped = match &report.deploy.verification {
        Verification::Skipped { reason } => Some(&**reason),
        _ => None,
    };
    let all = report.deploy.diagnostics.iter().chain(skipped);
    all.map(|found| Finding {
        severity: if found.severity == etbuild_diagnostic::Severity::Error { "error" } else { "warning" },
        code: found.code.to_string(),
        message: found.message.clone(),
        help: found.help.clone(),
    })
    .collect()
}

fn stage(row: &StageRow, whole: u64) -> Stage {
    Stage {
        name: row.name(),
        cached: row.cached,
        fetched: row.fetched,
        time: duration(row.milliseconds),
        width: super::percent(row.milliseconds as f64, whole as f64),
        key: row.key.chars().take(12).collect(),
    }
}
