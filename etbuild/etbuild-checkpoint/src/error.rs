//! Why a checkpoint cannot become a program.

use etbuild_ir::Violation;
use etbuild_torch::TorchError;

use crate::CONFIG;

/// What no family reads, in words.
fn said(missing: &[String]) -> String {
    if missing.is_empty() { String::new() } else { format!(", and no family has its `{}`", missing.join("`, `")) }
}

/// A reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// A JSON file that is not JSON, or no map.
    #[error("`{file}` is malformed: {reason}")]
    Json {
        /// The file's name.
        file: &'static str,
        /// The error of the parser.
        reason: String,
    },
    /// A tokenizer in another form than JSON that is malformed or not known.
    #[error("the tokenizer `{file}` cannot be read: {reason}")]
    Tokenizer {
        /// The file's name.
        file: &'static str,
        /// The mistake.
        reason: String,
    },
    /// A key of the configuration that is missing or has a value without meaning.
    #[error("`{file}`: `{key}` {reason}")]
    Key {
        /// The file's name.
        file: &'static str,
        /// The key, dotted for a nested key.
        key: String,
        /// The mistake.
        reason: String,
    },
    /// A value in the configuration that means a model which is not supported.
    #[error("`{file}`: `{key}` is `{value}`, which is not supported; supported: {supported}")]
    Unsupported {
        /// The file's name.
        file: &'static str,
        /// The key, dotted for a nested key.
        key: String,
        /// The value as JSON.
        value: String,
        /// The supported values.
        supported: String,
    },
    /// A value in the metadata of an encoder in GGUF that means an encoder which is not supported, or which another language model has.
    #[error(
        "the encoder `mmproj` beside the model: `{key}` is `{value}`, which is not supported; supported: {supported}"
    )]
    Encoder {
        /// The key.
        key: String,
        /// The value as JSON.
        value: String,
        /// The supported values.
        supported: String,
    },
    /// A family without a description.
    #[error("`{file}`: `{key}` names `{found}`, which is unknown{}; known are {}", said(.missing), known.join(", "))]
    Architecture {
        /// The file's name.
        file: &'static str,
        /// The key.
        key: &'static str,
        /// The architecture in the file.
        found: String,
        /// What the configuration has and no family reads.
        missing: Vec<String>,
        /// Every architecture with a description.
        known: Vec<&'static str>,
    },
    /// A context that is empty or longer than the model's context.
    #[error("a context of {asked} tokens is more than the {longest} that the model can")]
    Context {
        /// The requested context.
        asked: u32,
        /// The model's context.
        longest: usize,
    },
    /// No image tokens, or more image tokens of a picture than a text has room for.
    #[error("`export.image_tokens` is {asked}, but must be at least 1 and less than the context of {context} tokens")]
    ImageTokens {
        /// The requested number.
        asked: u32,
        /// The context.
        context: u32,
    },
    /// A state of more elements than any model's.
    #[error("`{CONFIG}` makes a state of {0:?} elements in a layer, which is more than any model of this kind has")]
    StateTooLarge([usize; 3]),
    /// Draft tokens for a model that cannot take tokens back.
    #[error("`export.speculate` is for models that can take tokens back, and this one keeps a state of all tokens")]
    Speculation,
    /// Times of words from a cache whose keys have scales.
    #[error("`export.word_timestamps` needs `export.cache` of `float32` or `float16`, and not `int8`")]
    WordsOfIntegers,
    /// An option about embeddings for a model with another head.
    #[error("`text.{key}` is for embeddings, and the model gives {task}")]
    TextOption {
        /// The key in the recipe.
        key: &'static str,
        /// What the model gives.
        task: &'static str,
    },
    /// A decoder for embeddings with another module behind the hidden states than the pooling of the last token: its name.
    #[error(
        "the embedding of a decoder is the hidden state of the last token, and `modules.json` or the recipe says `{0}`"
    )]
    PoolingOfDecoder(&'static str),
    /// What an encoder cannot have.
    #[error("an encoder cannot have {0}")]
    EncoderOption(&'static str),
    /// A file that a pipeline needs.
    #[error("the pipeline has no `{0}`")]
    FileMissing(&'static str),
    /// A shard that the index names and that is not there.
    #[error("the shard `{0}` is missing")]
    ShardMissing(String),
    /// A malformed shard, or a malformed part of a shard.
    #[error("the shard `{shard}` is malformed: {reason}")]
    ShardMalformed {
        /// The file's name.
        shard: String,
        /// The mistake.
        reason: String,
    },
    /// A shard of `torch.save` that has more than tensors, or another form.
    #[error("the shard `{shard}` cannot be read: {error}")]
    ShardRefused {
        /// The file's name.
        shard: String,
        /// The reason.
        error: TorchError,
    },
    /// A stack of matrices of something else than experts.
    #[error("`{0}` is a stack of quantized matrices, and only stacks of experts are read")]
    Stack(String),
    /// A tensor of a class of torchao that is not known, or with a part that is not.
    #[error("the tensor `{tensor}` is of torchao's class `{class}`{with}, which is not supported; supported: {known}")]
    Class {
        /// The tensor's name.
        tensor: String,
        /// The class.
        class: String,
        /// What of the class is not supported, in words.
        with: String,
        /// The known classes.
        known: String,
    },
    /// A tensor that two shards have.
    #[error("the tensor `{0}` is in two shards")]
    TensorTwice(String),
    /// A tensor that the model needs.
    #[error("the tensor `{0}` is missing")]
    TensorMissing(String),
    /// Tensors that the model does not have.
    #[error("the checkpoint has tensors that a model of this kind does not have: {}", .0.join(", "))]
    TensorsUnknown(Vec<String>),
    /// A tensor of another shape.
    #[error("the tensor `{tensor}` has shape {found:?}, its model needs {wanted:?}")]
    Shape {
        /// The tensor's name.
        tensor: String,
        /// The shape.
        found: Vec<usize>,
        /// The shape by the configuration.
        wanted: Vec<usize>,
    },
    /// A tensor whose elements are no floating-point numbers of up to 32 bits.
    #[error("the tensor `{tensor}` has elements of type {found}; `float32`, `float16` and `bfloat16` are known")]
    ElementType {
        /// The tensor's name.
        tensor: String,
        /// The type.
        found: &'static str,
    },
    /// A model that cannot be rotated.
    #[error("the model cannot be rotated: {0}")]
    Rotation(&'static str),
    /// An adapter of a kind that is not known here.
    #[error("`adapter_config.json`: `{key}` {reason}")]
    AdapterKind {
        /// The key that says so.
        key: String,
        /// The unknown part.
        reason: String,
    },
    /// An adapter over a model whose rows are in another order.
    #[error("the rows of queries and keys in this GGUF file are in another order than those of an adapter")]
    AdapterOverGguf,
    /// An adapter over a model with an encoder of pictures or sound: what the model does.
    #[error("an adapter over a model that {0} is not supported")]
    AdapterOverEncoder(&'static str),
    /// A model that reads pictures without the file that says how.
    #[error("the model reads pictures, and has neither `preprocessor_config.json` nor `processor_config.json`")]
    ProcessorMissing,
    /// A model that hears without the file that says how.
    #[error("the model hears, and has neither `preprocessor_config.json` nor `processor_config.json`")]
    FeatureExtractorMissing,
    /// A pattern in an adapter's configuration, in a build without the feature `patterns`.
    #[error("`adapter_config.json`: `{key}` needs the feature `text`, which this etbuild was built without")]
    PatternsLeftOut {
        /// The key of the pattern.
        key: String,
    },
    /// An adapter's configuration that selects no layer of the model.
    #[error("`adapter_config.json`: `target_modules` names no linear layer of the model, such as `{known}`")]
    AdapterTargets {
        /// A layer that could have been named.
        known: String,
    },
    /// Tensors of an adapter for layers that the configuration does not select.
    #[error("the adapter has tensors for no linear layer of the model that `target_modules` names, or other weights than the model: {}", .0.join(", "))]
    AdapterTensors(Vec<String>),
    /// The mistake in the adapter over the model.
    #[error(transparent)]
    Adapter(Box<CheckpointError>),
    /// The program breaks a rule of its dialect.
    #[error(transparent)]
    Invalid(#[from] Violation),
}

impl CheckpointError {
    /// The file of `torch.save` that is refused, and the reason.
    pub fn refused_shard(&self) -> Option<(&str, &TorchError)> {
        match self {
            Self::Adapter(error) => error.refused_shard(),
            Self::ShardRefused { shard, error } => Some((shard, error)),
            _ => None,
        }
    }

    /// A mistake that is the adapter's.
    pub(crate) fn of_adapter(self) -> Self {
        Self::Adapter(Box::new(self))
    }

    /// The message for an impossible value of a key.
    pub(crate) fn key(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Key { file: CONFIG, key: key.into(), reason: reason.into() }
    }
}
