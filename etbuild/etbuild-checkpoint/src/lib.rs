//! Language models and encoders from checkpoints in Hugging Face's layout: `config.json` and tensors in safetensors files, or in files of `torch.save`.
//!
//! A family of models is one file in `family/`, which makes a [`Decoder`] of the configuration: plain data. The program is
//! built from this data alone, by `decoder/`, for every family. Files are untrusted: this crate does not panic on any file.
//!
//! ```
//! let config = br#"{"architectures": ["LlamaForCausalLM"], "vocab_size": 1000, "hidden_size": 64, "num_hidden_layers": 2,
//!     "num_attention_heads": 4, "intermediate_size": 128}"#;
//! let decoder = etbuild_checkpoint::describe(config).unwrap();
//! assert_eq!((decoder.layers.len(), decoder.attention.depth), (2, 16));
//! ```

#![deny(clippy::iter_over_hash_type, reason = "the order of a hash map reaches no result")]

mod adapter;
mod class;
mod config;
mod constant;
mod decoder;
mod description;
mod diffusion;
mod embedder;
mod encoder;
mod encoder_texts;
mod error;
mod family;
mod gguf;
mod names;
mod pictures;
mod quantized;
mod relative;
mod rotary;
mod shards;
mod sketch;
mod slopes;
mod sounds;
mod spare;
mod texts;
mod tokenizer;
mod unread;

use std::collections::BTreeMap;
use std::sync::Arc;

use et_core::ScalarType;
use etbuild_ir::{AtenProgram, Buffer, Program};
use etbuild_weights::{Encoded, Grid, Keeper, Rotation};

use adapter::Adapter;
pub use adapter::{ADAPTER_CONFIG, ADAPTER_SHARD, AdapterFiles, PICKLED_ADAPTER};
use config::Config;
use decoder::Ending;
use decoder::Weights;
pub use description::{
    Activation, Attention, AttentionTemperature, Biases, Clamped, Convolution, ConvolutionNames, Cross, Cutoff,
    Decoder, Delta, DeltaInputs, ExpertNorms, Experts, FeedForward, Gate, Groups, HeadNorm, Hearing, Inputs, Latent,
    Layer, LayerInputs, Mixer, Mutual, Norm, NormKind, NormPlaces, PatchNames, PatchProjector, PatchTurning, Patches,
    Positions, Projector, Reader, Relative, Rotary, Routing, Scaling, Scan, ScanScales, Sections, Shares, SoundTower,
    Source, Steps, Storage, Streams, Tower, Vision, VisionEncoder, Windows,
};
use description::{PROJECTOR, SOUND_PROJECTOR, SOUND_TOWER, TOWER};
pub use diffusion::{PIPELINE_FILES, PipelineData, read_pipeline};
pub use embedder::{Embedding, has_embedder, is_embedder, read_embedder};
pub use encoder::{
    Encoder, EncoderNames, Encoding, Head, MODULES, Pooling, Projection, SENTENCE, Scores, SequenceHead, Task,
    describe_encoder, encoder_architectures, has_pooling, is_encoder, module_files,
};
pub use encoder_texts::read_encoder_texts;
pub use error::CheckpointError;
pub use etbuild_torch::{Remedy, TorchError};
use gguf::Gguf;
pub use gguf::{Encodes, GGUF, encoder_beside, encodes, gguf_stores_integers, is_gguf, part_names};
pub use names::{ExpertNames, Names};
pub use pictures::{PICTURE_FILES, read_pictures};
use shards::Tensors;
pub use shards::{PICKLED, PICKLED_SHARD, SHARD, WEIGHTS, WeightFiles};
pub use sounds::read_sounds;
pub use texts::{GENERATION, TEXT_FILES, TOKENIZER, TOKENIZER_CONFIG, Texts, read_texts};
pub use tokenizer::{made_texts, tokenizer_files};
pub use unread::of_family as unread_keys;

/// The file that describes the model.
pub const CONFIG: &str = "config.json";

/// A checkpoint's files, in memory or mapped.
pub struct Checkpoint {
    /// The model.
    pub model: Model,
    /// The adapter over the checkpoint, if any.
    pub adapter: Option<AdapterFiles>,
}

/// The files of a model, in memory or mapped.
pub enum Model {
    /// Hugging Face's layout.
    Folder {
        /// The contents of [`CONFIG`].
        config: Arc<dyn Buffer>,
        /// Further files of an encoder by name, such as [`MODULES`].
        more: BTreeMap<String, Arc<dyn Buffer>>,
        /// The files with tensors by name: safetensors, or those of `torch.save`.
        shards: BTreeMap<String, Arc<dyn Buffer>>,
    },
    /// GGUF files by name: one, or the parts of a split model, and perhaps an encoder of pictures or sound.
    Gguf(BTreeMap<String, Arc<dyn Buffer>>),
}

/// A model's description and tensors.
struct Opened {
    decoder: Decoder,
    /// The tensors under the names of the description's modules.
    tensors: Tensors,
    /// How many tensors of each kind no computation needs.
    spare: BTreeMap<&'static str, usize>,
}

impl Model {
    /// Whether the model is an encoder.
    fn is_encoder(&self) -> bool {
        matches!(self, Self::Folder { config, .. } if is_encoder(config.bytes()))
    }

    /// Whether rows of queries and keys are in another order than adapters have.
    fn is_permuted(&self) -> bool {
        match self {
            Self::Folder { .. } => false,
            Self::Gguf(files) => Gguf::open(files).is_ok_and(|file| file.is_permuted()),
        }
    }

    /// The description of the model, and the tensors under the names of the description's modules.
    fn open(&self) -> Result<Opened, Vec<CheckpointError>> {
        match self {
            Self::Folder { config, shards, more } => {
                let is_embedder = self.is_embedder();
                let describe = if is_embedder { embedder::describe_embedder } else { describe };
                let mut decoder = describe(config.bytes()).map_err(|error| vec![error])?;
                let mut tensors = Tensors::open(shards)?;
                quantized::assemble(&mut tensors).map_err(|error| vec![error])?;
                if is_embedder {
                    tensors = embedder::named(&decoder, tensors).map_err(|error| vec![error])?;
                }
                if decoder.vision.is_some() || decoder.hearing.is_some() || decoder.is_for_texts {
                    tensors = tensors.renamed(|name| decoder.canonical(name)).map_err(|error| vec![error])?;
                }
                if let (Some(file), Some(hearing)) = (more.get(GENERATION), &mut decoder.hearing) {
                    let found = sounds::aligned(file.bytes(), decoder.layers.len(), decoder.attention.heads);
                    hearing.aligned = found.map_err(|error| vec![error])?.unwrap_or_else(|| hearing.aligned.clone());
                }
                if decoder.source.is_some() {
                    // Some versions of `transformers` store `tie_word_embeddings` of models whose head is a matrix of its own.
                    decoder.tied = !tensors.has(&decoder.names.head_matrix());
                }
                decoder.find_stacks(|name| tensors.has(name));
                let quantized = Config::parse(config.bytes()).and_then(|config| quantized::method(&config));
                let quantized = quantized.map_err(|error| vec![error])?;
                if let Some((config, method)) = &quantized {
                    (method.add)(config, &mut decoder, &mut tensors).map_err(|error| vec![error])?;
                }
                let spare = spare::take(&decoder, &mut tensors, (quantized.is_some(), is_embedder));
                Ok(Opened { decoder, tensors, spare })
            }
            Self::Gguf(files) => {
                let file = Gguf::open(files)?;
                let decoder = file.decoder().map_err(|error| vec![error])?;
                let unread = file.unread();
                if !unread.is_empty() {
                    return Err(unread);
                }
                let tensors = file.tensors(&decoder)?;
                Ok(Opened { decoder, tensors, spare: BTreeMap::new() })
            }
        }
    }
}

/// The options of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// The context: most tokens of a text, prompt and answer together; `None` for [`Options::CONTEXT`] or the model's context, whichever
    /// is less.
    pub context: Option<u32>,
    /// How many tokens the methods for chunks of a prompt take at once, in ascending order; the last is [`Method::Prefill`].
    pub prefill: Vec<u32>,
    /// The number of tokens of a call of the method `verify`, at most the number of `prefill`; `None` for no such method.
    pub speculate: Option<u32>,
    /// The number of texts of a call of the method that continues several texts; `None` for no such method.
    pub batch: Option<u32>,
    /// The most image tokens of a picture, for a model that reads pictures of any size; `None` for [`Options::IMAGE_TOKENS`], or half of the
    /// context if that is less.
    pub image_tokens: Option<u32>,
    /// The type of the KV cache.
    pub cache: Cache,
    /// The rotation of the hidden states, if any. Logits are the same but for rounding.
    pub rotation: Option<Rotation>,
    /// Which stored groups of integers stay as they are; the numbers of others are decoded.
    pub keeps: Kept,
    /// The texts of an encoder or of a decoder for embeddings; `None` for a language model.
    pub encoder: Option<Encoding>,
    /// Whether the model is a decoder for embeddings.
    pub embeds: bool,
    /// Whether the program has the methods of a vision encoder: those of a model that reads pictures.
    pub vision: bool,
    /// What the audio encoder of a model that hears is for.
    pub sound: Option<Sound>,
    /// Whether the program has the method for the times of words: that of a model for transcripts.
    pub words: bool,
    /// Whether the program has the method of a text encoder, whose states the decoder attends to.
    pub source: bool,
    /// Whether `prefill` gives the logits behind each token, `[tokens, vocabulary]`: for measurements, not for generation.
    pub every: bool,
}

/// What an audio encoder is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sound {
    /// Transcripts: the decoder attends to the states.
    Transcripts,
    /// Prompts with sound.
    Prompts,
}

/// The type of a KV cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cache {
    /// `float32`, the type of the computation.
    #[default]
    Float32,
    /// fp16: half the memory and half the time to read; eleven significant bits.
    Float16,
    /// int8: a byte for each number, and for each head and position a scale, four bytes, behind the bytes.
    Int8,
}

impl Cache {
    /// The type.
    pub const fn scalar_type(self) -> ScalarType {
        match self {
            Self::Float32 => ScalarType::Float,
            Self::Float16 => ScalarType::Half,
            Self::Int8 => ScalarType::Char,
        }
    }

    /// How many elements `depth` numbers of a head and a position take.
    const fn row(self, depth: usize) -> usize {
        match self {
            Self::Float32 | Self::Float16 => depth,
            Self::Int8 => depth + size_of::<f32>(),
        }
    }
}

/// Which stored groups of integers of a checkpoint stay as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kept {
    /// All: integers of up to 8 bits.
    #[default]
    All,
    /// Integers of up to 4 bits.
    Int4,
    /// None.
    Nothing,
}

impl Kept {
    /// The name of the value.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Int4 => "int4",
            Self::Nothing => "nothing",
        }
    }

    /// The groups of a matrix that stays.
    fn grid(self, matrix: &Encoded) -> Option<Grid> {
        let grid = matrix.form.grid()?;
        let stays = match self {
            Self::All => true,
            Self::Int4 => grid.is_int4(),
            Self::Nothing => false,
        };
        stays.then_some(grid)
    }
}

/// What the stored integers that stay are multiplied by, and what the matrices that become `float32` are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiplied {
    /// By `float32` activations, as all matrices are.
    Float,
    /// By int8 activations; other matrices by `float32`.
    Stored,
    /// As a scheme says that makes integers of other matrices too.
    Scheme,
}

impl Multiplied {
    /// What a user of stored integers may want to know.
    const fn told(self) -> &'static str {
        match self {
            Self::Float => " (times float32 activations)",
            Self::Stored => {
                " (times int8 activations; `--quantize float` keeps activations in float32, which is slower and closer to the stored numbers)"
            }
            Self::Scheme => "",
        }
    }
}

impl Options {
    /// The default context.
    pub const CONTEXT: u32 = 2048;
    /// The default of the most image tokens of a picture, where pictures have several sizes: that of the image processor of Qwen2-VL.
    pub const IMAGE_TOKENS: u32 = 1280;
}

/// A method of the program of a language model or of an encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// Reads the longest chunk of a prompt.
    Prefill,
    /// Reads a shorter chunk, with the number of tokens.
    PrefillOf(u32),
    /// Reads one token.
    Decode,
    /// Reads a few tokens, of which all but the first may be wrong.
    Verify,
    /// Reads one token of each of several texts, with the number of texts.
    Batch(u32),
    /// Makes embeddings of the pixels of a tile.
    VisionEncoder,
    /// Reads the embeddings of a tile.
    Image,
    /// Makes states, or embeddings, of the features of a window of sound.
    AudioEncoder,
    /// Reads the embeddings of a window.
    Audio,
    /// Reads a chunk of a transcript, for the times of words.
    Align,
    /// Reads the text that the decoder attends to.
    TextEncoder,
    /// Reads a whole text: the only method of an encoder.
    Forward,
}

impl Method {
    /// The name in program files.
    pub fn name(self) -> String {
        match self {
            Self::Prefill => "prefill".to_owned(),
            Self::PrefillOf(tokens) => format!("prefill_{tokens}"),
            Self::Decode => "decode".to_owned(),
            Self::Verify => "verify".to_owned(),
            Self::Batch(texts) => format!("decode_{texts}"),
            Self::VisionEncoder => "vision_encoder".to_owned(),
            Self::Image => "prefill_image".to_owned(),
            Self::AudioEncoder => "audio_encoder".to_owned(),
            Self::Audio => "prefill_audio".to_owned(),
            Self::Align => "align".to_owned(),
            Self::TextEncoder => "text_encoder".to_owned(),
            Self::Forward => "forward".to_owned(),
        }
    }
}

impl Options {
    /// The methods of the program.
    pub fn methods(&self) -> Vec<Method> {
        if self.encoder.is_some() && !self.embeds {
            return vec![Method::Forward];
        }
        let shorter = self.prefill.split_last().map_or(&[][..], |(_, shorter)| shorter);
        let shorter = shorter.iter().map(|tokens| Method::PrefillOf(*tokens));
        let verify = self.speculate.map(|_| Method::Verify);
        let batch = self.batch.map(Method::Batch);
        let vision = [Method::VisionEncoder, Method::Image].into_iter().filter(|_| self.vision);
        let encoder = self.sound.map(|_| Method::AudioEncoder);
        let audio = self.sound.filter(|sound| *sound == Sound::Prompts).map(|_| Method::Audio);
        let texts = [Method::Prefill, Method::Decode].into_iter().chain(shorter).chain(verify).chain(batch);
        let source = self.source.then_some(Method::TextEncoder);
        let align = self.words.then_some(Method::Align);
        texts.chain(vision).chain(encoder).chain(audio).chain(align).chain(source).collect()
    }

    /// The tokens of a method's call.
    fn tokens(&self, method: Method, longest: u32) -> u32 {
        match method {
            Method::Prefill => longest,
            Method::PrefillOf(tokens) => tokens,
            Method::Decode => 1,
            Method::Verify => self.speculate.unwrap_or(1),
            Method::Batch(texts) => texts,
            Method::VisionEncoder
            | Method::Image
            | Method::AudioEncoder
            | Method::Audio
            | Method::Align
            | Method::TextEncoder
            | Method::Forward => 0,
        }
    }
}

/// Whether the matrices of the checkpoint with this configuration are integers in groups.
pub fn stores_integers(config: &[u8]) -> bool {
    Config::parse(config).is_ok_and(|config| quantized::stores_integers(&config))
}

/// Whether a configuration is that of a model that reads pictures.
pub fn reads_pictures(config: &[u8]) -> bool {
    describe(config).is_ok_and(|decoder| decoder.vision.is_some())
}

/// The pictures of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureSizes {
    /// The model reads no pictures.
    None,
    /// Pictures are tiles of one size.
    One,
    /// Pictures of any size.
    Any,
}

/// The pictures of the model of a configuration; `None` for a configuration without a family.
pub fn picture_sizes(config: &[u8]) -> Option<PictureSizes> {
    Some(match describe(config).ok()?.vision.map(|vision| vision.encoder) {
        None => PictureSizes::None,
        Some(VisionEncoder::Tiles(..)) => PictureSizes::One,
        Some(VisionEncoder::Patches(_)) => PictureSizes::Any,
    })
}

/// Whether a configuration is that of a model whose decoder attends to the states of a text encoder.
pub fn has_text_encoder(config: &[u8]) -> bool {
    describe(config).is_ok_and(|decoder| decoder.source.is_some())
}

/// What the audio encoder is for in the model of a configuration; `None` for a model that does not hear.
pub fn hears(config: &[u8]) -> Option<Sound> {
    describe(config).ok()?.hearing.map(|hearing| match hearing.reader {
        Reader::Cross => Sound::Transcripts,
        Reader::Prompt { .. } => Sound::Prompts,
    })
}

/// The description of a model from the configuration.
pub fn describe(config: &[u8]) -> Result<Decoder, CheckpointError> {
    let config = Config::parse(config)?;
    let name = config.architecture()?;
    quantized::method(&config)?;
    let family = family::find(&name).ok_or_else(|| CheckpointError::Architecture {
        file: CONFIG,
        key: "architectures",
        found: name,
        missing: unread::of_none(&config),
        known: family::FAMILIES
            .iter()
            .flat_map(|family| family.architectures)
            .copied()
            .chain(encoder_architectures())
            .collect(),
    })?;
    let decoder = (family.describe)(&config.with_keys(family.keys))?;
    decoder.check()?;
    Ok(decoder)
}

/// The program of a checkpoint. With [`Options::encoder`] and without [`Options::embeds`], the single method [`Method::Forward`] of an encoder: the input `tokens`,
/// `int64 [1, n]`, for pairs of texts also `types`; the output is an embedding, the logits of classes, or the logits of each token.
///
/// For a language model, the methods of [`Options::methods`], which share weights and the KV cache. Those of a decoder for embeddings have the
/// embedding of the text up to the last token, `float32 [1, width]`, in the place of logits.
///
/// Inputs of all methods: `tokens`, `int64 [1, p]`, and `start`, `int64 [1]`, the position of the first token. The
/// output is the logits, `float32 [1, vocabulary]`, after the last token. `prefill` also takes `last`, `int64 [1]`, the
/// index of the last token; further tokens pad the prefill chunk and have no effect. Earlier calls must have covered
/// the positions before `start`. `verify` has the inputs of `prefill` and returns the logits after each token,
/// `[tokens, vocabulary]`: the next call overwrites the KV cache of rejected draft tokens, so the text can continue
/// after any token. `decode_8` reads one token of each of 8 texts: `tokens`, `int64 [1, 8]`, and `start_0` to `start_7`, and returns the
/// logits of each text. Its KV caches are state of its own, named `<name in the other methods>@<index of the text>`: the runtime puts the
/// state of eight instances of the program in their place.
///
/// Matrices keep the type of the checkpoint; a node converts the elements. The arithmetic is `float32`. With a
/// rotation, matrices are the `float32` that `keeper` makes, one after the other; only the matrices that `keeper` keeps
/// are in memory.
///
/// A linear layer under an adapter computes `W x + B (A x)`. `A` and `B` are constants whose names mark an adapter; the
/// scaling factor is folded into `B`. The rest of the program does not depend on the elements.
pub fn import_checkpoint(
    checkpoint: &Checkpoint,
    options: &Options,
    keeper: &dyn Keeper,
) -> Result<AtenProgram, Vec<CheckpointError>> {
    if let Some(encoding) = options.encoder.as_ref().filter(|_| !options.embeds) {
        return encoder::import(checkpoint, encoding);
    }
    let Opened { decoder, tensors, .. } = checkpoint.model.open()?;
    let embedding = checkpoint.model.embedding(&decoder, options).map_err(|error| vec![error])?;
    let beside = decoder.vision.as_ref().map(|_| "reads pictures").or(decoder.hearing.as_ref().map(|_| "hears"));
    let beside = beside.or(decoder.source.as_ref().map(|_| "has a text encoder"));
    if let Some(does) = beside.filter(|_| checkpoint.adapter.is_some()) {
        return Err(vec![CheckpointError::AdapterOverEncoder(does).of_adapter()]);
    }
    let context = embedding.map_or_else(|| decoder.context(options.context), |embedding| Ok(embedding.max_tokens));
    let context = context.map_err(|error| vec![error])?;
    if options.speculate.is_some() && !options.every && decoder.is_recurrent() {
        return Err(vec![CheckpointError::Speculation]);
    }
    if options.words && options.cache == Cache::Int8 {
        return Err(vec![CheckpointError::WordsOfIntegers]);
    }
    options.rotation.map_or(Ok(()), |_| decoder.check_rotation()).map_err(|error| vec![error])?;
    if checkpoint.adapter.is_some() && checkpoint.model.is_permuted() {
        return Err(vec![CheckpointError::AdapterOverGguf]);
    }
    let adapter = checkpoint.adapter.as_ref().map(Adapter::open).transpose().map_err(all_of_adapter)?;
    let image_tokens = decoder.image_tokens(context, options.image_tokens).map_err(|error| vec![error])?;
    let weights = Weights::new(&decoder, (tensors, adapter), keeper, [context, image_tokens], options);
    let ending = embedding.map_or(Ending::Logits, |embedding| Ending::Embedding { normalize: embedding.normalize });
    let methods = decoder::build(&decoder, weights, options, ending)?;
    let program = Program { methods };
    AtenProgram::verify(program).map_err(|violations| violations.into_iter().map(CheckpointError::from).collect())
}

/// A sentence about the quantized weights of other tools in a checkpoint: which matrices keep their integers, and which matrices become
/// `float32`; and which tensors are left out, since no computation needs them; and which keys of the configuration nothing reads. `None` without any. Reads headers, zero points and biases.
///
/// # Errors
/// Malformed files, as for [`import_checkpoint`].
pub fn stored_forms(
    model: &Model,
    keeps: Kept,
    multiplied: Multiplied,
) -> Result<Option<String>, Vec<CheckpointError>> {
    if model.is_encoder() {
        return Ok(None);
    }
    let Opened { tensors, spare, .. } = model.open()?;
    let forms = tensors.forms(|matrix| keeps.grid(matrix).is_some());
    let of = |stays: bool| {
        let some = forms.iter().filter(|((stay, _), _)| *stay == stays);
        some.map(|((_, name), count)| format!("{} of {name}", count.matrices)).collect::<Vec<String>>().join(", ")
    };
    let [kept, decoded] = [true, false].map(of);
    let numbers: usize = forms.iter().filter(|((stay, _), _)| !stay).map(|(_, count)| count.numbers).sum();
    let fate = fate(numbers, multiplied != Multiplied::Scheme);
    let kept = if kept.is_empty() { kept } else { format!("{kept}{}", multiplied.told()) };
    let matrices = match (kept.is_empty(), decoded.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("stored matrices keep their integers and scales: {kept}")),
        (true, false) => Some(format!("stored matrices {fate}: {decoded}")),
        (false, false) => {
            Some(format!("stored matrices keep their integers and scales: {kept}; others {fate}: {decoded}"))
        }
    };
    let unread = match model {
        Model::Folder { config, .. } => {
            unread::of_family(&embedder::with_head(config.bytes())).map_err(|error| vec![error])?
        }
        Model::Gguf(_) => Vec::new(),
    };
    let unread = (!unread.is_empty()).then(|| format!("nothing reads these keys of `{CONFIG}`: {}", unread.join(", ")));
    let said: Vec<String> = matrices.into_iter().chain(spare::told(&spare)).chain(unread).collect();
    Ok((!said.is_empty()).then(|| said.join("; ")))
}

/// A sentence about matrices that lose their integers: the type in the program, and for float weights the bytes and the schemes that save some.
fn fate(numbers: usize, is_float: bool) -> String {
    if !is_float {
        return "become float32, which the recipe quantizes".to_owned();
    }
    let megabytes = (numbers * size_of::<f32>()).div_ceil(1_000_000);
    format!(
        "become float32, {megabytes} MB, unless `--quantize int8-weights` makes a quarter of that or `int4-weights` an eighth"
    )
}

/// The configuration and the files about texts of a model in GGUF, by the names in Hugging Face's layout.
///
/// # Errors
/// Malformed files; an unknown architecture; a tokenizer of another kind.
pub fn gguf_texts(
    files: &BTreeMap<String, Arc<dyn Buffer>>,
) -> Result<BTreeMap<String, Vec<u8>>, Vec<CheckpointError>> {
    let file = Gguf::open(files)?;
    let made = file.config().and_then(|config| {
        let mut texts = file.texts()?;
        texts.insert(CONFIG.to_owned(), config);
        Ok(texts)
    });
    made.map_err(|error| vec![error])
}

fn all_of_adapter(errors: Vec<CheckpointError>) -> Vec<CheckpointError> {
    errors.into_iter().map(CheckpointError::of_adapter).collect()
}
