//! A checkpoint becomes the ATen program of a language model.

use std::collections::BTreeMap;
use std::sync::Arc;

use etbuild_checkpoint::{CONFIG, Checkpoint, CheckpointError, Rotation, import_checkpoint};
use etbuild_diagnostic::{Diagnostic, Span};
use etbuild_ir::{Aten, Buffer, Dialect, Program, text};
use etbuild_store::{Blob, Digest, Value};

use super::import::{archive, unreadable};
use crate::db::{CheckpointFolder, DataFile, Db};
use crate::kept_rotations::KeptRotations;
use crate::program_artifact::{self, Held, Weights};
use crate::stage::{self, Blocked, Stage, StageResult};
use crate::{ArtifactKind, failure};

/// The program of one of the methods. Its constants are parts of the shards.
#[salsa::tracked(returns(clone))]
pub fn imported(db: &dyn Db, folder: CheckpointFolder, method: &'static str) -> StageResult {
    let files = files(db, folder).map_err(|found| Blocked::failed(Stage::Import, found))?;
    let options = folder.options(db);
    let mut key = Stage::Import.key();
    for (name, (_, digest)) in &files {
        key = key.option("file", name.as_str()).input("contents", *digest);
    }
    let context = options.context.map(u64::from);
    let key = key
        .fact("export.context", Value::from(context))
        .fact("export.prefill", Value::from(u64::from(options.prefill)))
        .option("export.cache", options.cache.scalar_type().name())
        .option("quantize.rotate", options.rotation.map(rotation))
        .fact("every logit", options.every)
        .option("method", method)
        .finish();
    stage::run(db.world(), Stage::Import, key, |products| {
        let read = read(db, folder)?;
        let mut program = read.program.clone();
        program.methods.retain(|name, _| name == method);
        let printed = text::print(Aten::NAME, &program);
        let mut weights = Weights::of_archives(read.shards.iter().cloned());
        read.rotated.iter().for_each(|blob| weights.add(ArtifactKind::Constant, blob.clone()));
        program_artifact::store(products, &printed, &program, &weights);
        Ok(())
    })
}

const fn rotation(rotation: Rotation) -> &'static str {
    match rotation {
        Rotation::Hadamard => "hadamard",
    }
}

/// Files with their digests, by name.
type Files = BTreeMap<String, (DataFile, Digest)>;

fn files(db: &dyn Db, folder: CheckpointFolder) -> Result<Files, Vec<Diagnostic>> {
    let files = folder.files(db).map_err(|found| found.to_vec())?;
    let digest = |(name, file): (&String, &DataFile)| {
        let digest = file.digest(db).map_err(|error| vec![unreadable(db, *file, error)])?;
        Ok((name.clone(), (*file, digest)))
    };
    files.iter().map(digest).collect()
}

/// The program of both methods, the shards that its constants are parts of, and the matrices that were rotated.
struct Read {
    program: Program,
    shards: Vec<Blob>,
    rotated: Vec<Blob>,
}

/// Reads the checkpoint, once for both methods: the digest of every constant is computed here.
#[salsa::tracked(returns(clone), no_eq)]
fn read_folder(db: &dyn Db, folder: CheckpointFolder) -> Result<Arc<Read>, Arc<[Diagnostic]>> {
    let files = files(db, folder)?;
    let blobs: BTreeMap<&String, Blob> =
        files.iter().map(|(name, (file, digest))| (name, archive(db, *file, *digest))).collect();
    let held = |blob: &Blob| -> Arc<dyn Buffer> { Arc::new(Held(blob.clone())) };
    let config = blobs.iter().find(|(name, _)| name.as_str() == CONFIG);
    let config = config.map(|(_, blob)| held(blob)).ok_or_else(|| failure::internal("a checkpoint has no files"))?;
    let shards: BTreeMap<&String, Blob> = blobs.into_iter().filter(|(name, _)| name.as_str() != CONFIG).collect();
    let mapped = shards.iter().map(|(name, blob)| ((*name).clone(), held(blob))).collect();
    let checkpoint = Checkpoint { config, shards: mapped };
    let keeper = KeptRotations::new(db.world());
    let program = import_checkpoint(&checkpoint, folder.options(db), &keeper);
    let program = program.map_err(|errors| place(db, folder, &errors))?.into_program();
    Ok(Arc::new(Read { program, shards: shards.into_values().collect(), rotated: keeper.into_blobs() }))
}

fn read(db: &dyn Db, folder: CheckpointFolder) -> Result<Arc<Read>, Vec<Diagnostic>> {
    read_folder(db, folder).map_err(|found| found.to_vec())
}

/// What is wrong with a checkpoint has no line; it has a folder.
fn place(db: &dyn Db, folder: CheckpointFolder, errors: &[CheckpointError]) -> Vec<Diagnostic> {
    let span = Span::file(folder.path(db).display().to_string());
    errors.iter().map(|error| failure::checkpoint(error).at(span.clone())).collect()
}
