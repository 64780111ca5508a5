//! Second moments of the activations of linear layers, measured on calibration data.

use std::collections::BTreeMap;

use etbuild_diagnostic::Diagnostic;
use etbuild_ir::ConstantData;
use etbuild_quantize::{Moments, Tensors};
use etbuild_store::{Blob, BlobRef, Digest};

use super::lower::LowerOptions;
use super::lowered;
use super::measure::{read, samples};
use super::quantize::failed;
use crate::calibration_tokens;
use crate::db::{DataFile, Db, ModelSource};
use crate::program_artifact::constant;
use crate::stage::{self, Blocked, Stage, StageResult, Staged, interrupt};
use crate::{ArtifactKind, failure, made_once};

/// The moments for the linear layers of a method, which runs on the portable kernels: on samples of the inputs or, for a method
/// of a checkpoint, on tokens.
#[salsa::tracked(returns(clone))]
pub fn moments(db: &dyn Db, model: ModelSource, lower: LowerOptions, data: DataFile) -> StageResult {
    let program = lowered(db, model, lower).map_err(|blocked: Blocked| blocked.downstream())?;
    let mut key = Stage::Measure
        .key()
        .option("measures", "moments")
        .input("program", program.blob(ArtifactKind::Program)?.digest)
        .input("samples", digest(db, data)?);
    if let ModelSource::Checkpoint(folder, _) = model {
        for (name, file) in folder.texts(db).iter() {
            key = key.input(name, digest(db, *file)?);
        }
    }
    stage::run(db.world(), Stage::Measure, key.finish(), |products| {
        let program = read(db, &program)?;
        let graph = program.program().methods.values().next();
        let graph = graph.ok_or_else(|| failure::internal("a program has no method"))?;
        let samples: Tensors = match model {
            ModelSource::Checkpoint(folder, _) => calibration_tokens::samples(db, (folder, data), graph)?,
            ModelSource::Archive(_) => samples(db, data)?,
        };
        let mut blobs = Vec::new();
        let mut keep = |bytes: Vec<u8>| kept(db, &bytes, &mut blobs);
        let found = etbuild_quantize::moments(graph, &samples, &mut keep).map_err(failed)?;
        blobs.iter().for_each(|blob| products.adopt(ArtifactKind::Constant, blob.reference()));
        let named: BTreeMap<&String, (String, usize)> =
            found.iter().map(|(name, data)| (name, (data.digest().to_string(), data.bytes().len()))).collect();
        products.put(ArtifactKind::Moments, &failure::json(&named)?);
        Ok(())
    })
}

fn kept(db: &dyn Db, bytes: &[u8], blobs: &mut Vec<Blob>) -> ConstantData {
    let mut writer = made_once::writer(db.world());
    writer.append(bytes).unwrap_or_else(|error| interrupt(error));
    let blob = writer.finish_open().unwrap_or_else(|error| interrupt(error));
    blobs.push(blob.clone());
    constant(blob)
}

/// The moments that [`moments`] stored.
pub fn read_moments(db: &dyn Db, staged: &Staged) -> Result<Moments, Vec<Diagnostic>> {
    let wrong = |error: &dyn std::fmt::Display| failure::internal(&format!("stored moments cannot be read: {error}"));
    let found = staged.artifacts.get(ArtifactKind::Moments).ok_or_else(|| wrong(&"there are none"))?;
    let bytes = db.world().open_blob(&found.blob());
    let named: BTreeMap<String, (String, u64)> = serde_json::from_slice(&bytes).map_err(|error| wrong(&error))?;
    let open = |(name, (digest, size)): (String, (String, u64))| {
        let digest = etbuild_ir::Digest::parse(&digest).ok_or_else(|| wrong(&"a digest is malformed"))?;
        let blob = db.world().open_weights(&BlobRef { digest: Digest(digest.0), size });
        Ok((name, constant(blob)))
    };
    named.into_iter().map(open).collect()
}

fn digest(db: &dyn Db, file: DataFile) -> Result<Digest, Blocked> {
    file.digest(db).map_err(|error| {
        let path = file.path(db).to_owned();
        Blocked::failed(Stage::Measure, failure::unreadable(&path, &std::io::Error::from(error)))
    })
}
