//! What comes of asking for a stage.

use std::sync::Arc;
use std::time::Duration;

use etbuild_diagnostic::Diagnostic;
use etbuild_store::{BlobRef, Key};

use super::Stage;
use crate::{ArtifactKind, Artifacts};

/// Where a stage's artifacts came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The store had them.
    Cache,
    /// The remote cache had them; this long it took to ask and to fetch what was fetched at once.
    Fetched(Duration),
    /// The stage ran, this long.
    Run(Duration),
    /// A worker of the remote cache ran it; this long it took to send the job and to fetch what came of it.
    Worker(Duration),
}

/// A stage whose artifacts are in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    /// The stage.
    pub stage: Stage,
    /// What it read.
    pub key: Arc<Key>,
    /// What it made.
    pub artifacts: Artifacts,
    /// Where that came from.
    pub source: Source,
}

impl Staged {
    /// The blob of the first artifact of a kind; a stage that did not make one has failed in our own code.
    pub fn blob(&self, kind: ArtifactKind) -> Result<BlobRef, Blocked> {
        let found = self.artifacts.get(kind).map(|artifact| artifact.blob());
        found.ok_or_else(|| {
            Blocked::internal(self.stage, &format!("stage {} made no {}", self.stage.name(), kind.name()))
        })
    }
}

/// Why a stage gave nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// It, or a stage that it needs, failed; it would fail again.
    Failed(Failed),
    /// Only planning was asked for, and the store lacks its artifacts.
    Missing(Missing),
    /// Only planning was asked for, and a stage that it needs is missing.
    Waiting,
}

/// A stage that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The stage.
    pub stage: Stage,
    /// What went wrong.
    pub diagnostics: Arc<[Diagnostic]>,
}

/// A stage that would have to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The stage.
    pub stage: Stage,
    /// What it would read.
    pub key: Arc<Key>,
}

impl Blocked {
    /// A stage that failed for these reasons.
    pub fn failed(stage: Stage, diagnostics: impl Into<Arc<[Diagnostic]>>) -> Self {
        Self::Failed(Failed { stage, diagnostics: diagnostics.into() })
    }

    /// A bug of ours.
    pub fn internal(stage: Stage, message: &str) -> Self {
        let code = etbuild_diagnostic::Code::Internal;
        Self::failed(stage, [Diagnostic::error(code, message)])
    }

    /// The same reason, as seen by a stage that needs the blocked one.
    #[must_use]
    pub fn downstream(&self) -> Self {
        match self {
            Self::Failed(_) => self.clone(),
            Self::Missing(_) | Self::Waiting => Self::Waiting,
        }
    }
}

/// A stage's artifacts, or why there are none.
pub type StageResult = Result<Arc<Staged>, Blocked>;
