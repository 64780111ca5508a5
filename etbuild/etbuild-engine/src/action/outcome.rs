//! The outcome of asking for a stage.

use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use etbuild_store::{BlobRef, Key};
use serde::de::DeserializeOwned;

use super::{ArtifactKind, Artifacts};
use crate::failure;
use crate::pipeline::{Source, Stage};
use crate::session::World;

/// A stage whose artifacts are in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    /// The stage.
    pub stage: Stage,
    /// The key.
    pub key: Arc<Key>,
    /// The artifacts.
    pub artifacts: Artifacts,
    /// Where that came from.
    pub source: Source,
}

impl Staged {
    /// The blob of the first artifact of a kind; only a bug leaves the kind out.
    pub fn blob(&self, kind: ArtifactKind) -> Result<BlobRef, Blocked> {
        let found = self.artifacts.get(kind).map(|artifact| artifact.blob());
        found.ok_or_else(|| {
            Blocked::internal(self.stage, &format!("stage {} made no {}", self.stage.name(), kind.name()))
        })
    }

    /// The first artifact of a kind that is JSON.
    pub fn json<T: DeserializeOwned>(&self, world: &World, kind: ArtifactKind) -> Result<T, Blocked> {
        let bytes = world.open_blob(&self.blob(kind)?);
        serde_json::from_slice(&bytes).map_err(|error| Blocked::internal(self.stage, &error.to_string()))
    }

    /// The first artifact of a kind that is JSON; `None` where the stage made none.
    pub fn optional_json<T: DeserializeOwned>(&self, world: &World, kind: ArtifactKind) -> Result<Option<T>, Blocked> {
        self.artifacts.get(kind).map(|_| self.json(world, kind)).transpose()
    }
}

/// The reason why a stage has no outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// The stage, or a stage before, failed, and would fail again.
    Failed(Failed),
    /// The command only plans, and the store lacks the artifacts.
    Missing(Missing),
    /// The command only plans, and a stage before is missing.
    Waiting,
}

/// A stage that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The stage.
    pub stage: Stage,
    /// The diagnostics.
    pub diagnostics: Arc<[Diagnostic]>,
}

/// A stage that would have to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The stage.
    pub stage: Stage,
    /// The key.
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

    /// The diagnostics. Stages know no recipe: `place` gives places to diagnostics without a place.
    pub fn diagnostics(&self, place: impl Fn(&Diagnostic) -> Diagnostic) -> Vec<Diagnostic> {
        match self {
            Self::Failed(failed) => failed.diagnostics.iter().map(place).collect(),
            Self::Missing(_) | Self::Waiting => failure::internal("a stage did not run"),
        }
    }

    /// The same reason, for a stage that depends on the blocked stage.
    #[must_use]
    pub fn downstream(&self) -> Self {
        match self {
            Self::Failed(_) => self.clone(),
            Self::Missing(_) | Self::Waiting => Self::Waiting,
        }
    }
}

/// A stage's artifacts, or the reason for their absence.
pub type StageResult = Result<Arc<Staged>, Blocked>;
