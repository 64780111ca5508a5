//! Second moments of the activations of linear layers, measured on calibration data.

use std::collections::BTreeMap;

use etbuild_diagnostic::Diagnostic;
use etbuild_ir::ConstantData;
use etbuild_quantize::{Moments, Tensors};
use etbuild_store::{Blob, BlobRef, Digest, KeyBuilder};

use super::calibration_text::CalibrationText;
use super::failure::failed;
use super::samples::{hashed, samples};
use crate::action::program::{StoredProgram, constant, only_method};
use crate::action::{self, Action, ArtifactKind, Blocked, Keyed, Products, StageResult, Staged, made_once};
use crate::failure;
use crate::input::{DataFile, Db, HashedFile, ModelSource};
use crate::lower::{LowerOptions, lowered};
use crate::pipeline::Stage;
use crate::session::interrupt;

/// The moments for the linear layers of a method, which runs on the portable kernels: on samples of the inputs or, for a method
/// of a checkpoint, on tokens.
#[salsa::tracked(returns(clone))]
pub fn moments(db: &dyn Db, model: ModelSource, lower: LowerOptions, data: DataFile) -> StageResult {
    let program = lowered(db, model, lower).map_err(|blocked: Blocked| blocked.downstream())?;
    let samples = match model {
        ModelSource::Checkpoint(folder, _) => Samples::Tokens(CalibrationText::of(db, folder, data)?),
        ModelSource::Archive(_) => Samples::Tensors(hashed(db, data)?),
    };
    action::run(db, &MeasureMoments { program: StoredProgram::of(program)?, samples })
}

/// Measuring moments.
struct MeasureMoments {
    program: StoredProgram,
    samples: Samples,
}

/// The samples of the inputs of a method.
enum Samples {
    /// Tensors by the names of inputs.
    Tensors(HashedFile),
    /// Tokens of a language model.
    Tokens(CalibrationText),
}

impl Keyed for MeasureMoments {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { program, samples } = self;
        let key = program.key(key.option("measures", "moments"));
        match samples {
            Samples::Tensors(file) => key.input("samples", file.digest),
            Samples::Tokens(text) => text.key(key),
        }
    }
}

impl Action for MeasureMoments {
    const STAGE: Stage = Stage::Measure;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let (program, _) = self.program.lowered(db.world())?;
        let graph = only_method(&program)?;
        let samples: Tensors = match &self.samples {
            Samples::Tokens(text) => text.samples(db, graph)?,
            Samples::Tensors(file) => samples(db, *file)?,
        };
        let mut blobs = Vec::new();
        let mut keep = |bytes: Vec<u8>| kept(db, &bytes, &mut blobs);
        let found = etbuild_quantize::moments(graph, &samples, &mut keep).map_err(failed)?;
        blobs.iter().for_each(|blob| products.adopt(ArtifactKind::Constant, blob.reference()));
        let named: BTreeMap<&String, (String, usize)> =
            found.iter().map(|(name, data)| (name, (data.digest().to_string(), data.bytes().len()))).collect();
        products.put(ArtifactKind::Moments, &failure::json(&named)?);
        Ok(())
    }
}

fn kept(db: &dyn Db, bytes: &[u8], blobs: &mut Vec<Blob>) -> ConstantData {
    let mut writer = made_once::writer(db.world());
    writer.append(bytes).unwrap_or_else(|error| interrupt(error));
    let blob = writer.finish_open().unwrap_or_else(|error| interrupt(error));
    blobs.push(blob.clone());
    constant(blob)
}

/// The moments that [`moments`] stored, as the input of an action.
pub struct StoredMoments(BlobRef);

impl StoredMoments {
    /// The moments among the artifacts of a stage.
    pub fn of(staged: &Staged) -> Result<Self, Blocked> {
        staged.blob(ArtifactKind::Moments).map(Self)
    }

    /// Reads the moments.
    pub fn read(&self, db: &dyn Db) -> Result<Moments, Vec<Diagnostic>> {
        let wrong =
            |error: &dyn std::fmt::Display| failure::internal(&format!("stored moments cannot be read: {error}"));
        let bytes = db.world().open_blob(&self.0);
        let named: BTreeMap<String, (String, u64)> = serde_json::from_slice(&bytes).map_err(|error| wrong(&error))?;
        let open = |(name, (digest, size)): (String, (String, u64))| {
            let digest = etbuild_ir::Digest::parse(&digest).ok_or_else(|| wrong(&"a digest is malformed"))?;
            let blob = db.world().open_weights(&BlobRef { digest: Digest(digest.0), size });
            Ok((name, constant(blob)))
        };
        named.into_iter().map(open).collect()
    }
}

impl Keyed for StoredMoments {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self(blob) = self;
        key.input("moments", blob.digest)
    }
}
