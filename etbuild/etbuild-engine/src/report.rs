//! What a command has to tell about one unit.

use std::path::PathBuf;

use etbuild_diagnostic::Diagnostic;
use serde::Serialize;

use crate::judge::Judgement;
use crate::stage::{Source, Stage, Staged};

/// What came of one recipe for one target.
#[derive(Clone, Debug, Serialize)]
pub struct UnitReport {
    /// The recipe's name.
    pub recipe: String,
    /// The target's name.
    pub target: String,
    /// The stages that were asked for and gave something, in order.
    pub stages: Vec<StageRow>,
    /// The files that were written, or were there already.
    pub files: Vec<OutputFile>,
    /// How large the binary is.
    pub sizes: Option<etbuild_link::SizeReport>,
    /// Whether the binary computes what the model computes.
    pub verification: Verification,
    /// What went wrong; empty where nothing did.
    pub diagnostics: Vec<Diagnostic>,
}

/// A stage of a unit.
#[derive(Clone, Debug, Serialize)]
pub struct StageRow {
    /// The stage's name.
    pub stage: &'static str,
    /// The method that it ran for, where it runs once for each of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The digest of everything that it read.
    pub key: String,
    /// Whether the cache had its artifacts.
    pub cached: bool,
    /// Whether the remote cache had it.
    pub fetched: bool,
    /// Whether a worker of the remote cache ran it.
    pub worker: bool,
    /// How long it ran, in milliseconds; 0 where it did not.
    pub milliseconds: u64,
}

/// A file of a unit's results.
#[derive(Clone, Debug, Serialize)]
pub struct OutputFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// The digest of its bytes.
    pub digest: String,
}

/// Whether the binary computes what the model computes.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase", tag = "state")]
pub enum Verification {
    /// Nothing was asked for.
    None,
    /// It ran; the judgement says how near it came.
    Done(Judgement),
    /// It could not run here.
    Skipped {
        /// What is missing, and how to get it.
        reason: Box<Diagnostic>,
    },
}

impl StageRow {
    /// The stage's name, with that of its method where there are several: `import.forward`.
    pub fn name(&self) -> String {
        stage_name(self.stage, self.method.as_deref())
    }
}

/// The name of a stage, with that of its method where it runs for each of several.
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
            sizes: None,
            verification: Verification::None,
            diagnostics: Vec::new(),
        }
    }

    /// Notes that a stage gave something.
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

    /// The row of a stage, the first of several, that gave something.
    pub fn stage(&self, stage: Stage) -> Option<&StageRow> {
        self.stages.iter().find(|row| row.stage == stage.name())
    }
}
