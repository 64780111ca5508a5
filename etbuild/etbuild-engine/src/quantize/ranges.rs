//! The qparams of a language model's activations, measured on calibration text.

use std::collections::BTreeMap;

use etbuild_checkpoint::Method;
use etbuild_diagnostic::Diagnostic;
use etbuild_quantize::{Options, Parameters, Ranges};
use etbuild_store::{BlobRef, KeyBuilder};

use super::calibration_text::CalibrationText;
use super::failure::failed;
use crate::action::program::{StoredProgram, only_method};
use crate::action::{self, Action, ArtifactKind, Blocked, Keyed, Products, StageResult, Staged};
use crate::failure;
use crate::input::{CheckpointFolder, DataFile, Db, ModelSource};
use crate::lower::{LowerOptions, lowered};
use crate::pipeline::Stage;

/// The qparams of the activations of a checkpoint, which runs on the portable kernels. The method `verify` computes the logits of every
/// token.
#[salsa::tracked(returns(clone))]
pub fn ranges(
    db: &dyn Db,
    folder: CheckpointFolder,
    lower: LowerOptions,
    options: Options,
    data: DataFile,
) -> StageResult {
    let program = lowered(db, ModelSource::Checkpoint(folder, Method::Verify), lower);
    let program = program.map_err(|blocked: Blocked| blocked.downstream())?;
    let text = CalibrationText::of(db, folder, data)?;
    action::run(db, &MeasureRanges { program: StoredProgram::of(program)?, text, options })
}

/// Measuring ranges.
struct MeasureRanges {
    program: StoredProgram,
    text: CalibrationText,
    options: Options,
}

impl Keyed for MeasureRanges {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { program, text, options } = self;
        options.key(text.key(program.key(key.option("measures", "ranges"))))
    }
}

impl Action for MeasureRanges {
    const STAGE: Stage = Stage::Measure;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let (program, _) = self.program.lowered(db.world())?;
        let graph = only_method(&program)?;
        let samples = self.text.samples(db, graph)?;
        let found = etbuild_quantize::ranges(graph, &self.options, &samples).map_err(failed)?;
        let found: Numbers =
            found.into_iter().map(|(place, Parameters { scale, zero_point })| (place, (scale, zero_point))).collect();
        products.put(ArtifactKind::Ranges, &failure::json(&found)?);
        Ok(())
    }
}

/// The stored form of qparams: scale and zero point by place.
type Numbers = BTreeMap<String, (f32, i64)>;

/// The qparams that [`ranges`] stored, as the input of an action.
pub struct StoredRanges(BlobRef);

impl StoredRanges {
    /// The qparams among the artifacts of a stage.
    pub fn of(staged: &Staged) -> Result<Self, Blocked> {
        staged.blob(ArtifactKind::Ranges).map(Self)
    }

    /// Reads the qparams.
    pub fn read(&self, db: &dyn Db) -> Result<Ranges, Vec<Diagnostic>> {
        let bytes = db.world().open_blob(&self.0);
        let stored: Numbers = serde_json::from_slice(&bytes)
            .map_err(|error| failure::internal(&format!("stored ranges cannot be read: {error}")))?;
        let parameters = |(place, (scale, zero_point))| (place, Parameters { scale, zero_point });
        Ok(stored.into_iter().map(parameters).collect())
    }
}

impl Keyed for StoredRanges {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self(blob) = self;
        key.input("ranges", blob.digest)
    }
}
