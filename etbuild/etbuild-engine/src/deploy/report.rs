//! The report of a command on one unit.

use std::path::PathBuf;

use etbuild_diagnostic::Diagnostic;
use serde::Serialize;

use crate::action::Staged;
use crate::partition::Fallback;
use crate::pipeline::{Source, Stage};
use crate::verify::{Cost, Judgement};

/// The result of a unit: a recipe for a target.
#[derive(Clone, Debug, Serialize)]
pub struct UnitReport {
    /// The recipe's name.
    pub recipe: String,
    /// The target's name.
    pub target: String,
    /// The stages with outputs, in order.
    pub stages: Vec<StageRow>,
    /// The files that were written, or were there already.
    pub files: Vec<OutputFile>,
    /// The nodes on portable kernels, where backends were asked and not all nodes run on a backend.
    pub fallback: Option<Fallback>,
    /// Facts about speed and precision that the user may not expect, a sentence each.
    pub notes: Vec<String>,
    /// How large the binary is.
    pub sizes: Option<etbuild_link::SizeReport>,
    /// The stack of firmware, by its instructions.
    pub stack: Option<etbuild_link::StackUse>,
    /// What the library of a board takes; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub library: Option<etbuild_link::LibraryUse>,
    /// Whether the binary computes the outputs of the model.
    pub verification: Verification,
    /// The verification on each device, where the binary ran on devices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceReport>,
    /// What an inference costs; `None` where that was not measured.
    pub cost: Option<Cost>,
    /// Whether the outputs of firmware equal those of its program file on this machine, bit for bit; `None` where they were not compared.
    pub same_bits: Option<bool>,
    /// The diagnostics; empty for a success.
    pub diagnostics: Vec<Diagnostic>,
}

/// A stage of a unit.
#[derive(Clone, Debug, Serialize)]
pub struct StageRow {
    /// The stage's name.
    pub stage: &'static str,
    /// The method, for a stage that runs once for each of several methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The digest of the inputs.
    pub key: String,
    /// Whether the cache had the artifacts.
    pub cached: bool,
    /// Whether the remote cache had the artifacts.
    pub fetched: bool,
    /// Whether a worker of the remote cache ran the stage.
    pub worker: bool,
    /// The time of the run, in milliseconds; 0 for a cached stage.
    pub milliseconds: u64,
}

/// A file of a unit's results.
#[derive(Clone, Debug, Serialize)]
pub struct OutputFile {
    /// The path.
    pub path: PathBuf,
    /// The size in bytes.
    pub size: u64,
    /// The digest of the bytes.
    pub digest: String,
}

/// A device that ran the binary.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceReport {
    /// The device, as `--device` names it.
    pub device: String,
    /// Whether the binary computes the outputs of the model there.
    #[serde(flatten)]
    pub verification: Verification,
}

/// Whether the binary computes the outputs of the model.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase", tag = "state")]
pub enum Verification {
    /// The command asked for no verification.
    None,
    /// The binary ran; the judgement has the differences.
    Done(Judgement),
    /// The binary could not run here.
    Skipped {
        /// The missing program, and the way to install the program.
        reason: Box<Diagnostic>,
    },
}

impl StageRow {
    /// The stage's name, with the name of the method among several: `import.forward`.
    pub fn name(&self) -> String {
        stage_name(self.stage, self.method.as_deref())
    }
}

/// The name of a stage, with the name of the method for a stage that runs for each of several.
pub fn stage_name(stage: &str, method: Option<&str>) -> String {
    method.map_or_else(|| stage.to_owned(), |method| format!("{stage}.{method}"))
}

impl UnitReport {
    /// A report without results.
    pub fn new(recipe: &str, target: &str) -> Self {
        Self {
            recipe: recipe.to_owned(),
            target: target.to_owned(),
            stages: Vec::new(),
            files: Vec::new(),
            fallback: None,
            notes: Vec::new(),
            sizes: None,
            stack: None,
            library: None,
            verification: Verification::None,
            devices: Vec::new(),
            cost: None,
            same_bits: None,
            diagnostics: Vec::new(),
        }
    }

    /// Notes the outputs of a stage.
    pub fn staged(&mut self, staged: &Staged, method: Option<&str>) {
        let milliseconds = match staged.source {
            Source::Cache => 0,
            Source::Fetched(duration) | Source::Run(duration) | Source::Worker(duration) => {
                u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
            }
        };
        self.stages.push(StageRow {
            stage: staged.stage.name(),
            method: method.map(str::to_owned),
            key: staged.key.action().to_string(),
            cached: staged.source == Source::Cache,
            fetched: matches!(staged.source, Source::Fetched(_)),
            worker: matches!(staged.source, Source::Worker(_)),
            milliseconds,
        });
    }

    /// The row of a stage with outputs, the first of several.
    pub fn stage(&self, stage: Stage) -> Option<&StageRow> {
        self.stages.iter().find(|row| row.stage == stage.name())
    }
}
