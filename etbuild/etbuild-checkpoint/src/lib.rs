//! Language models from checkpoints in Hugging Face's layout: `config.json` and tensors in safetensors files.
//!
//! A family of models is one file in `family/`, which makes a [`Decoder`] of the configuration: plain data. The program is
//! built from that data alone, by `decoder/`, whatever the family. Files are untrusted: nothing here panics on them.

mod adapter;
mod config;
mod decoder;
mod description;
mod error;
mod family;
mod reals;
mod rotary;
mod rotated;
mod rotation;
mod shards;
mod texts;

use std::collections::BTreeMap;
use std::sync::Arc;

use et_core::ScalarType;
use etbuild_ir::{AtenProgram, Buffer, Program};

use adapter::Adapter;
pub use adapter::{ADAPTER_CONFIG, ADAPTER_SHARD, AdapterFiles};
use config::Config;
use decoder::Weights;
pub use description::{
    Activation, Attention, Biases, Decoder, FeedForward, HeadNorm, Layer, Norm, NormPlaces, Rotary, Scaling,
};
pub use error::CheckpointError;
pub use rotated::{InMemory, Keeper, Rotated};
pub use rotation::{Rotation, Space};
use shards::Tensors;
pub use shards::{SHARD, SHARD_INDEX, shard_names};
pub use texts::{TEXT_FILES, TOKENIZER, Texts, read_texts};

/// The file that describes the model.
pub const CONFIG: &str = "config.json";

/// A checkpoint's files, in memory or mapped.
pub struct Checkpoint {
    /// The contents of [`CONFIG`].
    pub config: Arc<dyn Buffer>,
    /// The safetensors files by name.
    pub shards: BTreeMap<String, Arc<dyn Buffer>>,
    /// The adapter over it, where there is one.
    pub adapter: Option<AdapterFiles>,
}

/// What a program is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// Most tokens of a text, prompt and answer together; `None` for [`Options::CONTEXT`] or what the model can, whichever
    /// is less.
    pub context: Option<u32>,
    /// How many tokens the method `prefill` takes at once.
    pub prefill: u32,
    /// How many tokens the method `verify` takes at once, at most those of `prefill`; none for no such method.
    pub speculate: Option<u32>,
    /// In what the cache keeps keys and values.
    pub cache: Cache,
    /// Whether what layers hand on is rotated, and how. Logits are the same but for rounding.
    pub rotation: Option<Rotation>,
    /// Whether `prefill` gives the logits behind each of its tokens, `[tokens, vocabulary]`: for measuring, not for talking.
    pub every: bool,
}

/// In what keys and values are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cache {
    /// As they are computed: `float32`.
    #[default]
    Float32,
    /// Half the room, and half the time to read it; eleven significant bits.
    Float16,
    /// A byte for each number, and for each head and position a scale, four bytes, behind them.
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

impl Options {
    /// The context where none is given.
    pub const CONTEXT: u32 = 2048;
}

/// The method that reads a piece of a prompt.
pub const PREFILL: &str = "prefill";
/// The method that reads one token.
pub const DECODE: &str = "decode";
/// The method that reads a few tokens, of which all but the first may be wrong.
pub const VERIFY: &str = "verify";

/// The description of a model from its configuration.
pub fn describe(config: &[u8]) -> Result<Decoder, CheckpointError> {
    let config = Config::parse(config)?;
    let name = config.architecture()?;
    let family = family::find(&name).ok_or_else(|| CheckpointError::Architecture {
        found: name,
        known: family::FAMILIES.iter().flat_map(|family| family.architectures).copied().collect(),
    })?;
    let decoder = (family.describe)(&config)?;
    decoder.check()?;
    Ok(decoder)
}

/// The program of a checkpoint: the methods [`PREFILL`], [`DECODE`] and, where it is asked for, [`VERIFY`], which share weights
/// and the cache of keys and values.
///
/// All take `tokens`, `int64 [1, p]`, the position of the first of them, `start`, `int64 [1]`, and give the logits, `float32
/// [1, vocabulary]`, of the token behind the last. `prefill` takes as `last`, `int64 [1]`, which of its tokens is the last;
/// those behind it fill the piece up and leave no trace. Positions up to `start` have been given before. `verify` is like it but
/// that it gives the logits behind each of its tokens, `[tokens, vocabulary]`: what it writes for those that turn out to be wrong
/// is written over before it is read, so that the text goes on behind any of them.
///
/// Matrices keep the type that the checkpoint has; a node converts them. Numbers are computed in `float32`. With a rotation,
/// matrices are the `float32` that `keeper` makes of them, one after the other; no more of them is in memory than it keeps there.
///
/// A linear layer that an adapter is over computes `W x + B (A x)`. `A` and `B` are constants whose names say that they are an
/// adapter's; `B` has the factor of the adapter in it. Nothing else of the program depends on what they hold.
pub fn import_checkpoint(
    checkpoint: &Checkpoint,
    options: Options,
    keeper: &dyn Keeper,
) -> Result<AtenProgram, Vec<CheckpointError>> {
    let decoder = describe(checkpoint.config.bytes()).map_err(|error| vec![error])?;
    let context = decoder.context(options.context).map_err(|error| vec![error])?;
    options.rotation.map_or(Ok(()), |_| decoder.check_rotation()).map_err(|error| vec![error])?;
    let tensors = Tensors::open(&checkpoint.shards)?;
    let options = Options { prefill: options.prefill.clamp(1, context), ..options };
    let adapter = checkpoint.adapter.as_ref().map(Adapter::open).transpose().map_err(all_of_adapter)?;
    let weights = Weights::new(&decoder, (tensors, adapter), keeper, context, options);
    let methods = decoder::build(&decoder, weights, options)?;
    let program = Program { methods };
    AtenProgram::verify(program).map_err(|violations| violations.into_iter().map(CheckpointError::from).collect())
}

fn all_of_adapter(errors: Vec<CheckpointError>) -> Vec<CheckpointError> {
    errors.into_iter().map(CheckpointError::of_adapter).collect()
}
