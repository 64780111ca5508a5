//! Why a checkpoint cannot become a program.

use etbuild_ir::Violation;

use crate::CONFIG;

/// One reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// A JSON file that is not JSON, or no map.
    #[error("`{file}` is malformed: {reason}")]
    Json {
        /// The file's name.
        file: &'static str,
        /// What the parser says.
        reason: String,
    },
    /// A key of the configuration that is missing or has a value without meaning.
    #[error("`{file}`: `{key}` {reason}")]
    Key {
        /// The file's name.
        file: &'static str,
        /// The key, dotted where it is inside another.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A family that there is no description of.
    #[error("the architecture `{found}` is unknown; known are {}", known.join(", "))]
    Architecture {
        /// What `config.json` says.
        found: String,
        /// Every architecture with a description.
        known: Vec<&'static str>,
    },
    /// A context that is empty or longer than what the model was made for.
    #[error("a context of {asked} tokens is more than the {longest} that the model can")]
    Context {
        /// What was asked for.
        asked: u32,
        /// What the model can.
        longest: usize,
    },
    /// A shard that the index names and that is not there.
    #[error("the shard `{0}` is missing")]
    ShardMissing(String),
    /// A shard that is no safetensors file, or a part of one.
    #[error("the shard `{shard}` is malformed: {reason}")]
    ShardMalformed {
        /// The file's name.
        shard: String,
        /// What is wrong.
        reason: String,
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
        /// Its shape.
        found: Vec<usize>,
        /// What the configuration says.
        wanted: Vec<usize>,
    },
    /// A tensor whose elements are no floating-point numbers of up to 32 bits.
    #[error("the tensor `{tensor}` has elements of type {found}; `float32`, `float16` and `bfloat16` are known")]
    ElementType {
        /// The tensor's name.
        tensor: String,
        /// Its type.
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
        /// What is not known of it.
        reason: String,
    },
    /// An adapter's configuration that names none of the model's layers.
    #[error("`adapter_config.json`: `target_modules` names no linear layer of the model, such as `{known}`")]
    AdapterTargets {
        /// A layer that could have been named.
        known: String,
    },
    /// Tensors of an adapter that are of no layer that its configuration names.
    #[error("the adapter has tensors for no linear layer of the model that `target_modules` names, or other weights than the model: {}", .0.join(", "))]
    AdapterTensors(Vec<String>),
    /// What is wrong with the adapter over the model.
    #[error(transparent)]
    Adapter(Box<CheckpointError>),
    /// The program breaks a rule of its dialect.
    #[error(transparent)]
    Invalid(#[from] Violation),
}

impl CheckpointError {
    /// A mistake that is the adapter's.
    pub(crate) fn of_adapter(self) -> Self {
        Self::Adapter(Box::new(self))
    }

    /// A key that cannot be what it is.
    pub(crate) fn key(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Key { file: CONFIG, key: key.into(), reason: reason.into() }
    }
}
