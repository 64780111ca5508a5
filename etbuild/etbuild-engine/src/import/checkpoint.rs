//! A checkpoint becomes the ATen program of a language model.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use etbuild_checkpoint::{
    ADAPTER_CONFIG, ADAPTER_SHARD, AdapterFiles, CONFIG, Checkpoint, CheckpointError, Encoding, Method, Model,
    Multiplied, Options, PICKLED_ADAPTER, Pooling, Sound, import_checkpoint, stored_forms,
};
use etbuild_diagnostic::{Diagnostic, Span};
use etbuild_ir::{Aten, Buffer, Dialect, Program, text};
use etbuild_store::{Blob, Digest, KeyBuilder};
use etbuild_weights::Rotation;

use super::derived::KeptWeights;
use super::file::unreadable;

use crate::action::program::{self, Held, Weights};
use crate::action::{self, Action, ArtifactKind, Blocked, Keyed, Products, StageResult};
use crate::failure;
use crate::input::{self, AdapterFolder, CheckpointFolder, DataFile, Db, mapped_file};
use crate::pipeline::Stage;

/// The program of a method. The constants are parts of the shards.
#[salsa::tracked(returns(clone))]
pub fn imported(db: &dyn Db, folder: CheckpointFolder, method: Method) -> StageResult {
    let failed = |found| Blocked::failed(Stage::Import, found);
    let files = digests(db, folder.files(db)).map_err(failed)?;
    let adapter = folder.adapter(db).map(|adapter| digests(db, adapter.files)).transpose().map_err(failed)?;
    let options = folder.options(db);
    // The other methods are the same with this method and without.
    let speculate = options.speculate.filter(|_| method == Method::Verify);
    // The name of a method states the number of tokens; the longest is the size of the buffers.
    let prefill = options.prefill.last().copied().into_iter().collect();
    // The name of the method states the number of texts.
    let batch = options.batch.filter(|_| matches!(method, Method::Batch(_)));
    let words = options.words && method == Method::Align;
    let options = Options { speculate, prefill, batch, words, ..options };
    action::run(db, &Import { folder, method, files, adapter, options })
}

/// Importing a method of a checkpoint.
struct Import {
    folder: CheckpointFolder,
    method: Method,
    files: Files,
    adapter: Option<Files>,
    options: Options,
}

impl Keyed for Import {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self {
            folder: _, // The other fields stand for the folder.
            method,
            files,
            adapter,
            options,
        } = self;
        let key = files
            .iter()
            .fold(key, |key, (name, (_, digest))| key.option("file", name.as_str()).input("contents", *digest));
        let key = adapter
            .iter()
            .flatten()
            .fold(key, |key, (name, (_, digest))| key.option("adapter file", name.as_str()).input("contents", *digest));
        options.key(key).option("method", method.name().as_str())
    }
}

impl Keyed for Options {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self {
            context,
            prefill,
            speculate,
            batch,
            image_tokens,
            cache,
            rotation: rotated,
            keeps,
            encoder,
            embeds,
            vision,
            sound,
            source,
            words,
            every,
        } = self;
        let key = encoder.iter().fold(key, |key, encoding| encoding.key(key));
        let key = image_tokens.iter().fold(key, |key, most| key.option("export.image_tokens", u64::from(*most)));
        let key = if *embeds { key.fact("embeds", true) } else { key };
        let key = if *vision { key.fact("vision", true) } else { key };
        let key = sound.iter().fold(key, |key, sound| key.fact("sound", *sound == Sound::Prompts));
        let key = if *words { key.option("export.word_timestamps", true) } else { key };
        let key = if *source { key.fact("source", true) } else { key };
        key.option("export.context", context.map(u64::from))
            .option("export.prefill", prefill.iter().copied().map(u64::from).collect::<Vec<u64>>())
            .option("export.speculate", speculate.map(u64::from))
            .option("export.batch", batch.map(u64::from))
            .option("export.cache", cache.scalar_type().name())
            .option("quantize.rotate", rotated.map(rotation))
            .option("quantize.scheme", keeps.name())
            .fact("every logit", *every)
    }
}

impl Keyed for Encoding {
    fn key(&self, key: KeyBuilder) -> KeyBuilder {
        let Self { pooling, normalize, max_tokens } = self;
        key.option("text.pooling", pooling.map(Pooling::name))
            .option("text.normalize", *normalize)
            .option("text.max_tokens", max_tokens.map(u64::from))
    }
}

impl Action for Import {
    const STAGE: Stage = Stage::Import;

    fn run(&self, db: &dyn Db, products: &mut Products<'_>) -> Result<(), Vec<Diagnostic>> {
        let read = read(db, self.folder)?;
        let mut program = read.program.clone();
        program.methods.retain(|name, _| *name == self.method.name());
        let printed = text::print(Aten::NAME, &program);
        let mut weights = Weights::of_archives(read.shards.iter().cloned());
        read.derived.iter().for_each(|blob| weights.add(ArtifactKind::Constant, blob.clone()));
        program::store(products, &printed, &program, &weights);
        Ok(())
    }
}

const fn rotation(rotation: Rotation) -> &'static str {
    match rotation {
        Rotation::Hadamard => "hadamard",
    }
}

/// Files with their digests, by name.
type Files = BTreeMap<String, (DataFile, Digest)>;

/// The content of a folder, or the missing part.
type Found = Result<Arc<BTreeMap<String, DataFile>>, Arc<[Diagnostic]>>;

fn digests(db: &dyn Db, files: Found) -> Result<Files, Vec<Diagnostic>> {
    let files = files.map_err(|found| found.to_vec())?;
    let digest = |(name, file): (&String, &DataFile)| {
        let digest = file.digest(db).map_err(|error| vec![unreadable(db, *file, error)])?;
        Ok((name.clone(), (*file, digest)))
    };
    files.iter().map(digest).collect()
}

/// The program of all methods, the files with the constants, and the derived weights.
struct Read {
    program: Program,
    shards: Vec<Blob>,
    derived: Vec<Blob>,
}

/// Reads the checkpoint, once for all methods: the digest of every constant is computed here.
#[salsa::tracked(returns(clone), no_eq)]
fn read_folder(db: &dyn Db, folder: CheckpointFolder) -> Result<Arc<Read>, Arc<[Diagnostic]>> {
    let (model, shards) = model(db, folder)?;
    let over = folder.adapter(db).map(|adapter| adapter_files(db, &adapter)).transpose()?;
    let (adapter, of_adapter) = over.unzip();
    let checkpoint = Checkpoint { model, adapter };
    let keeper = KeptWeights::new(db.world());
    let program = import_checkpoint(&checkpoint, &folder.options(db), &keeper);
    let program = program.map_err(|errors| place(db, folder, &errors))?.into_program();
    let shards = shards.into_iter().chain(of_adapter).collect();
    Ok(Arc::new(Read { program, shards, derived: keeper.into_blobs() }))
}

/// The files of the model, and those with the constants.
fn model(db: &dyn Db, folder: CheckpointFolder) -> Result<(Model, Vec<Blob>), Vec<Diagnostic>> {
    let mut shards = opened(db, digests(db, folder.files(db))?);
    let config = shards.remove(CONFIG);
    let is_json = |name: &str| Path::new(name).extension().is_some_and(|ending| ending == "json");
    let (more, shards): (BTreeMap<_, _>, BTreeMap<_, _>) = shards.into_iter().partition(|(name, _)| is_json(name));
    let mapped = |files: &BTreeMap<String, Blob>| files.iter().map(|(name, blob)| (name.clone(), held(blob))).collect();
    let model = match &config {
        Some(config) => Model::Folder { config: held(config), more: mapped(&more), shards: mapped(&shards) },
        None => Model::Gguf(mapped(&shards)),
    };
    Ok((model, shards.into_values().collect()))
}

/// A sentence about quantized weights of other tools: which matrices keep their integers, and which matrices become `float32`; `None` for a
/// checkpoint without such weights.
pub fn forms(db: &dyn Db, folder: CheckpointFolder, multiplied: Multiplied) -> Option<String> {
    let (model, _) = model(db, folder).ok()?;
    // An import has reported mistakes in the files.
    stored_forms(&model, folder.options(db).keeps, multiplied).ok()?
}

/// The files of an adapter, and the file with the constants.
fn adapter_files(db: &dyn Db, adapter: &AdapterFolder) -> Result<(AdapterFiles, Blob), Vec<Diagnostic>> {
    let mut blobs = opened(db, digests(db, adapter.files.clone())?);
    let config = blobs.remove(ADAPTER_CONFIG);
    let shard = [ADAPTER_SHARD, PICKLED_ADAPTER].into_iter().find_map(|name| Some((name, blobs.remove(name)?)));
    match config.zip(shard) {
        Some((config, (name, shard))) => Ok((AdapterFiles { config: held(&config), name, shard: held(&shard) }, shard)),
        None => Err(failure::internal("an adapter has no files")),
    }
}

/// Files as the store has them.
fn opened(db: &dyn Db, files: Files) -> BTreeMap<String, Blob> {
    files.into_iter().map(|(name, (file, digest))| (name, mapped_file::mapped(db, file, digest))).collect()
}

fn held(blob: &Blob) -> Arc<dyn Buffer> {
    Arc::new(Held(blob.clone()))
}

fn read(db: &dyn Db, folder: CheckpointFolder) -> Result<Arc<Read>, Vec<Diagnostic>> {
    read_folder(db, folder).map_err(|found| found.to_vec())
}

/// An error of a checkpoint or of an adapter has no line, but a folder.
fn place(db: &dyn Db, folder: CheckpointFolder, errors: &[CheckpointError]) -> Vec<Diagnostic> {
    let span = |path: &Path| Span::file(path.display().to_string());
    let place = |error: &CheckpointError| match (error, folder.adapter(db)) {
        (CheckpointError::Adapter(_), Some(adapter)) => input::checkpoint(error).at(span(&adapter.path)),
        _ => input::checkpoint(error).at(span(folder.path(db))),
    };
    errors.iter().map(place).collect()
}
