//! Which files of a folder make a checkpoint.

use std::path::{Path, PathBuf};

use etbuild_checkpoint::{
    CONFIG, Cache, CheckpointError, Encodes, GENERATION, GGUF, Kept, MODULES, Options, PICKLED, PICKLED_SHARD,
    PICTURE_FILES, PictureSizes, SENTENCE, SHARD, Sound, TEXT_FILES, TOKENIZER_CONFIG, WEIGHTS, encoder_beside,
    gguf_stores_integers, is_embedder, is_encoder, module_files, part_names, tokenizer_files,
};
use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_system::System;

use super::checkpoint_failure::checkpoint;

/// No header of GGUF is longer; vocabularies take a few megabytes.
const LONGEST_HEADER: usize = 1 << 28;
/// No metadata of an encoder is longer, which has no vocabulary.
const ENCODER_HEADER: usize = 1 << 20;

/// How files with weights end.
const SHARDS: [&str; 2] = [".safetensors", PICKLED];
/// How files with weights of other tools end.
const OTHER_WEIGHTS: [&str; 3] = ["pth", "pt", "bin"];

/// The folder of the files of a checkpoint: the checkpoint itself, or the folder of a GGUF file.
pub fn folder(path: &Path) -> PathBuf {
    if is_gguf(path) { path.parent().map_or_else(PathBuf::new, Path::to_owned) } else { path.to_owned() }
}

/// Whether the checkpoint is that of a model whose decoder attends to the states of a text encoder.
pub fn has_text_encoder(system: &dyn System, path: &Path) -> bool {
    !is_gguf(path) && system.read(&path.join(CONFIG)).is_ok_and(|config| etbuild_checkpoint::has_text_encoder(&config))
}

/// Whether a model reads pictures.
pub fn reads_pictures(system: &dyn System, path: &Path) -> bool {
    picture_sizes(system, path).is_some_and(|sizes| sizes != PictureSizes::None)
}

/// The sizes of the pictures of a checkpoint's model; `None` for a model that nobody knows.
pub fn picture_sizes(system: &dyn System, path: &Path) -> Option<PictureSizes> {
    if is_gguf(path) {
        return Some(encodes(system, path).map_or(PictureSizes::None, |encoder| encoder.pictures));
    }
    etbuild_checkpoint::picture_sizes(&system.read(&path.join(CONFIG)).ok()?)
}

/// What the audio encoder of the checkpoint is for; `None` for a model that does not hear.
pub fn hears(system: &dyn System, path: &Path) -> Option<Sound> {
    if is_gguf(path) {
        return encodes(system, path)?.sound;
    }
    etbuild_checkpoint::hears(&system.read(&path.join(CONFIG)).ok()?)
}

/// What the encoder beside a model in GGUF reads, if there is one.
fn encodes(system: &dyn System, path: &Path) -> Option<Encodes> {
    let file = folder(path).join(encoder(system, path)?);
    etbuild_checkpoint::encodes(&system.read_part(&file, 0, ENCODER_HEADER).ok()?)
}

/// The name of the file with the encoder of pictures or sound beside a model in GGUF, if there is one.
fn encoder(system: &dyn System, path: &Path) -> Option<String> {
    let place = folder(path);
    // A name without a folder is that of a file in the working folder.
    let place = if place.as_os_str().is_empty() { Path::new(".") } else { &place };
    let files = system.list(place).unwrap_or_default();
    let names: Vec<String> = files.iter().map(|file| file_name(file)).collect();
    encoder_beside(names.iter().map(String::as_str), &file_name(path)).map(str::to_owned)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether the checkpoint is that of an encoder, or of a decoder for embeddings.
pub fn reads_texts(system: &dyn System, path: &Path) -> bool {
    !is_gguf(path) && system.read(&path.join(CONFIG)).is_ok_and(|config| is_encoder(&config)) || embeds(system, path)
}

/// Whether the checkpoint is that of a decoder for embeddings.
fn embeds(system: &dyn System, path: &Path) -> bool {
    let modules = system.read(&path.join(MODULES)).ok().filter(|_| !is_gguf(path));
    modules
        .is_some_and(|modules| system.read(&path.join(CONFIG)).is_ok_and(|config| is_embedder(&config, Some(&modules))))
}

/// The names of the present files that say how a model for texts reads them.
fn of_encoder(system: &dyn System, folder: &Path) -> Vec<String> {
    if !reads_texts(system, folder) {
        return Vec::new();
    }
    let listed = system.read(&folder.join(MODULES)).map(|modules| module_files(&modules)).unwrap_or_default();
    let names = [MODULES, SENTENCE, TOKENIZER_CONFIG].map(str::to_owned).into_iter().chain(listed);
    let exists = |name: &str| system.stamp(&folder.join(name)).is_ok();
    let is_spare =
        |name: &str| name.strip_suffix(PICKLED_SHARD).is_some_and(|module| exists(&format!("{module}{SHARD}")));
    names.filter(|name| exists(name) && !is_spare(name)).collect()
}

/// The name of the present file with the heads of a model for transcripts that follow the sound.
fn of_transcripts(system: &dyn System, folder: &Path) -> Option<String> {
    let is_there = || system.stamp(&folder.join(GENERATION)).is_ok();
    (hears(system, folder) == Some(Sound::Transcripts) && is_there()).then(|| GENERATION.to_owned())
}

fn is_gguf(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == GGUF)
}

/// The options of a program of this checkpoint: which stored integers stay matters only where the checkpoint may store integers, so that
/// another scheme for plain numbers is no other import.
pub fn options(system: &dyn System, path: &Path, options: Options) -> Options {
    // `quantization_config`, and MLX's `quantization`.
    const KEY: &[u8] = b"\"quantization";
    let states = |config: Vec<u8>| config.windows(KEY.len()).any(|part| part == KEY);
    let stores_integers = is_gguf(path) || system.read(&path.join(CONFIG)).is_ok_and(states);
    let encoder = options.encoder.filter(|_| reads_texts(system, path));
    let embeds = encoder.is_some() && embeds(system, path);
    let options = match encoder {
        Some(_) => Options { context: None, speculate: None, image_tokens: None, batch: None, ..options },
        None => options,
    };
    // An encoder has no KV cache and no chunks of prompts; a decoder for embeddings has both.
    let options = match encoder {
        Some(_) if !embeds => Options { prefill: Vec::new(), cache: Cache::default(), ..options },
        _ => options,
    };
    let keeps = if stores_integers { options.keeps } else { Kept::default() };
    let sound = hears(system, path);
    // Each text of a transcript has states of its own.
    let source = has_text_encoder(system, path);
    // Each text of a transcript, or behind a text encoder, has states of its own.
    let batch = options.batch.filter(|_| sound != Some(Sound::Transcripts) && !source);
    let words = options.words && sound == Some(Sound::Transcripts);
    Options { keeps, encoder, embeds, batch, vision: reads_pictures(system, path), sound, source, words, ..options }
}

/// Whether the matrices of a checkpoint are integers in groups. Reads the configuration, or the headers of GGUF.
pub fn stores_integers(system: &dyn System, path: &Path) -> bool {
    if is_gguf(path) {
        return parts(system, path).iter().any(|name| part_stores_integers(system, &folder(path).join(name)));
    }
    system.read(&path.join(CONFIG)).is_ok_and(|config| etbuild_checkpoint::stores_integers(&config))
}

/// Whether tensors of a GGUF file are integers in groups. The header is as long as the vocabulary needs.
fn part_stores_integers(system: &dyn System, path: &Path) -> bool {
    let size = system.stamp(path).map_or(0, |stamp| stamp.size);
    for length in [1 << 20, 1 << 24, LONGEST_HEADER] {
        let head = system.read_part(path, 0, length).unwrap_or_default();
        match gguf_stores_integers(&head) {
            None if size > length as u64 => {}
            found => return found.unwrap_or(false),
        }
    }
    false
}

/// The names of the files of a model in GGUF, with the encoder beside.
fn parts(system: &dyn System, path: &Path) -> Vec<String> {
    part_names(&file_name(path)).into_iter().chain(encoder(system, path)).collect()
}

/// The names of the present files with the tokenizer in another form than `tokenizer.json`; none beside a `tokenizer.json`.
fn other_tokenizer(system: &dyn System, folder: &Path) -> impl Iterator<Item = String> {
    let files = tokenizer_files(|name| system.stamp(&folder.join(name)).is_ok());
    files.into_iter().map(str::to_owned)
}

/// The names of the present files that describe texts. GGUF files describe texts themselves.
pub fn texts(system: &dyn System, folder: &Path) -> Vec<String> {
    if is_gguf(folder) {
        return parts(system, folder);
    }
    let names = TEXT_FILES.iter().filter(|name| system.stamp(&folder.join(name)).is_ok());
    let names = names.map(|name| (*name).to_owned()).chain([CONFIG.to_owned()]);
    let is_shard = |name: &str| SHARDS.iter().any(|ending| name.ends_with(ending));
    let is_other_text = |name: &str| !TEXT_FILES.contains(&name) && !is_shard(name);
    let more = of_encoder(system, folder).into_iter().filter(|name| is_other_text(name));
    let has_processor = reads_pictures(system, folder) || hears(system, folder).is_some();
    let pictures: &[&str] = if has_processor { &PICTURE_FILES } else { &[] };
    let pictures = pictures.iter().filter(|name| system.stamp(&folder.join(name)).is_ok());
    let pictures = pictures.map(|name| (*name).to_owned());
    names.chain(other_tokenizer(system, folder)).chain(more).chain(pictures).collect()
}

/// The names of the files that the model in `folder` is read from: the configuration and the shards.
pub fn find(system: &dyn System, folder: &Path) -> Result<Vec<String>, Vec<Diagnostic>> {
    if is_gguf(folder) {
        return gguf(system, folder);
    }
    let exists = |name: &str| system.stamp(&folder.join(name)).is_ok();
    let at = |diagnostic: Diagnostic| diagnostic.at(Span::file(folder.display().to_string()));
    let shards = shards(system, folder)?;
    let missing = shards.iter().filter(|name| !exists(name)).cloned().map(CheckpointError::ShardMissing);
    let mut mistakes: Vec<Diagnostic> = missing.map(|error| at(checkpoint(&error))).collect();
    if !exists(CONFIG) {
        let message = format!("`{}` has no `{CONFIG}`", folder.display());
        mistakes.push(at(Diagnostic::error(Code::ModelMalformed, message)));
    }
    let files = || {
        std::iter::once(CONFIG.to_owned())
            .chain(shards)
            .chain(of_encoder(system, folder))
            .chain(of_transcripts(system, folder))
            .collect()
    };
    if mistakes.is_empty() { Ok(files()) } else { Err(mistakes) }
}

/// The names of the files with weights: safetensors, or else files of `torch.save`.
fn shards(system: &dyn System, folder: &Path) -> Result<Vec<String>, Vec<Diagnostic>> {
    let exists = |name: &str| system.stamp(&folder.join(name)).is_ok();
    let at = |diagnostic: Diagnostic| vec![diagnostic.at(Span::file(folder.display().to_string()))];
    let present = WEIGHTS.iter().find(|files| exists(files.index) || exists(files.single));
    let files = present.ok_or_else(|| at(no_shards(system, folder)))?;
    if !exists(files.index) {
        return Ok(vec![files.single.to_owned()]);
    }
    let index = system.read(&folder.join(files.index)).map_err(|error| {
        let message = format!("`{}` cannot be read: {error}", folder.join(files.index).display());
        vec![Diagnostic::error(Code::ModelUnreadable, message)]
    })?;
    files.shards(&index).map_err(|error| at(checkpoint(&error)))
}

/// The parts of a model in GGUF.
fn gguf(system: &dyn System, path: &Path) -> Result<Vec<String>, Vec<Diagnostic>> {
    let (folder, names) = (folder(path), parts(system, path));
    let missing = names.iter().filter(|name| system.stamp(&folder.join(name)).is_err());
    let missing = missing.cloned().map(CheckpointError::ShardMissing);
    let at = |error| checkpoint(&error).at(Span::file(path.display().to_string()));
    let mistakes: Vec<Diagnostic> = missing.map(at).collect();
    if mistakes.is_empty() { Ok(names) } else { Err(mistakes) }
}

fn no_shards(system: &dyn System, folder: &Path) -> Diagnostic {
    let files = system.list(folder).unwrap_or_default();
    let others = |file: &&PathBuf| {
        file.extension().and_then(|extension| extension.to_str()).is_some_and(|ending| OTHER_WEIGHTS.contains(&ending))
    };
    let message = format!("`{}` has neither `{SHARD}` nor `{PICKLED_SHARD}`", folder.display());
    let diagnostic = Diagnostic::error(Code::ModelUnsupported, message);
    match files.iter().find(others) {
        Some(file) => {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let note = format!(
                "`{name}` has weights under another name, or is a checkpoint of another form, such as Meta's own"
            );
            diagnostic.note(note).help(format!(
                "use the model's folder in Hugging Face's form: `{CONFIG}`, and safetensors or `{PICKLED_SHARD}`"
            ))
        }
        None => {
            diagnostic.help(format!("a checkpoint is a folder with `{CONFIG}`, and `{SHARD}` or `{PICKLED_SHARD}`"))
        }
    }
}
