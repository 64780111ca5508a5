//! An encoder as plain data.

use crate::{Activation, Norm, Relative};

/// A transformer that reads a whole text at once: each token attends to all tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoder {
    /// The tokens of the vocabulary.
    pub vocabulary: usize,
    /// The elements of a hidden state.
    pub width: usize,
    /// The number of layers.
    pub layers: usize,
    /// The heads of attention.
    pub heads: usize,
    /// The elements of a head of attention.
    pub depth: usize,
    /// The factor of the scores; `None` for one over the root of the depth.
    pub scale: Option<f64>,
    /// The elements between the projections of the feed-forward network.
    pub inner: usize,
    /// The activation of the feed-forward network.
    pub activation: Activation,
    /// The norm of embeddings and layers.
    pub norm: Norm,
    /// The parts of a layer that families differ in.
    pub block: Block,
    /// The attention of each layer.
    pub reaches: Vec<Reach>,
    /// The table of a relative position bias, which all layers share.
    pub relative: Option<Relative>,
    /// The positions of a text: the rows of the table without the rows ahead.
    pub positions: usize,
    /// The rows of the table of positions that no token has.
    pub first_position: usize,
    /// The rows of the table of token types; 0 for a model without the table.
    pub types: usize,
    /// The names of the modules.
    pub names: EncoderNames,
    /// The part behind the last layer.
    pub head: Head,
    /// The names of classes or of the labels of tokens.
    pub labels: Vec<String>,
    /// How logits become probabilities or scores.
    pub scores: Scores,
    /// The most tokens of a text.
    pub max_tokens: usize,
    /// Beginnings of names of tensors that the program does not need, such as those of the head for masked tokens.
    pub unused: &'static [&'static str],
}

impl Encoder {
    /// The elements of the heads of attention.
    pub const fn attended(&self) -> usize {
        self.heads * self.depth
    }

    /// Whether a table of positions is added to the embeddings; RoPE rotates queries and keys otherwise.
    pub const fn has_position_table(&self) -> bool {
        !self.names.positions.is_empty()
    }

    /// The task.
    pub fn task(&self) -> Task {
        match self.head {
            Head::Embedding { .. } => Task::Embedding,
            Head::Tokens { .. } => Task::Labels,
            Head::Sequence(_) if self.labels.len() == 1 => Task::Score,
            Head::Sequence(_) => Task::Classes,
        }
    }

    /// Whether the method takes the types of tokens.
    pub fn takes_types(&self) -> bool {
        self.types > 1 && matches!(self.head, Head::Sequence(_))
    }
}

/// What an encoder is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// A vector for a text.
    Embedding,
    /// A class of a text or of a pair of texts.
    Classes,
    /// A score of a pair of texts: a reranker.
    Score,
    /// A label for each token.
    Labels,
}

impl Task {
    /// The name in program files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Embedding => "embedding",
            Self::Classes => "classes",
            Self::Score => "score",
            Self::Labels => "labels",
        }
    }
}

/// The part of an encoder behind the last layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// One vector for a text.
    Embedding {
        /// How.
        pooling: Pooling,
        /// The linear layer behind the pooling, if any.
        projection: Option<Projection>,
        /// Whether the vector has the length 1.
        normalize: bool,
    },
    /// Logits for a text.
    Sequence(SequenceHead),
    /// Logits for each token.
    Tokens {
        /// The layer ahead of the last linear layer, if any.
        dense: Option<Dense>,
        /// The module of the last linear layer.
        output: &'static str,
    },
}

/// A linear layer over one vector of a text, in a file of its own (`Dense` of `sentence-transformers`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Projection {
    /// The elements of the vector behind.
    pub width: usize,
    /// Whether the linear layer has a bias.
    pub has_bias: bool,
    /// Whether tanh is behind the linear layer.
    pub has_tanh: bool,
}

/// Two linear layers over one vector of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceHead {
    /// How hidden states become the vector.
    pub pooling: Pooling,
    /// The first layer.
    pub dense: Dense,
    /// The module of the second layer.
    pub output: &'static str,
}

/// A linear layer with an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dense {
    /// The module of the linear layer.
    pub module: &'static str,
    /// Whether the linear layer has a bias.
    pub has_bias: bool,
    /// The activation; tanh for `None`.
    pub activation: Option<Activation>,
    /// The module of the norm behind the activation, if any.
    pub norm: Option<&'static str>,
}

impl Dense {
    /// A linear layer with a bias, and tanh.
    pub const fn tanh(module: &'static str) -> Self {
        Self { module, has_bias: true, activation: None, norm: None }
    }
}

/// The parts of a layer that families differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The module of the norm behind the last layer, in a model whose layers have norms ahead of attention and network: the first layer
    /// has none ahead of attention where embeddings have one. `None` for norms behind both.
    pub final_norm: Option<&'static str>,
    /// Whether one matrix projects queries, keys and values.
    pub is_joined: bool,
    /// Whether the first projection of the network is activated and multiplied with a second: the second half of the same matrix, or that of
    /// the module [`EncoderNames::factor`].
    pub is_gated: bool,
    /// Whether the projections of attention have biases.
    pub attention_biases: bool,
    /// Whether those of the network have.
    pub network_biases: bool,
}

impl Block {
    /// The layer of BERT.
    pub const BERT: Self =
        Self { final_norm: None, is_joined: false, is_gated: false, attention_biases: true, network_biases: true };
}

/// The attention of a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reach {
    /// The base of RoPE; `None` for a layer without.
    pub theta: Option<f64>,
    /// The most tokens between two tokens that attend to each other; `None` for no limit.
    pub window: Option<usize>,
}

/// How the hidden states of a text become one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pooling {
    /// The mean of all tokens.
    Mean,
    /// The first token.
    Cls,
    /// The largest value of each element.
    Max,
    /// The last token.
    Last,
}

impl Pooling {
    /// All.
    pub const ALL: [Self; 4] = [Self::Mean, Self::Cls, Self::Max, Self::Last];

    /// The name in recipes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Cls => "cls",
            Self::Max => "max",
            Self::Last => "last",
        }
    }
}

/// How logits become probabilities or scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scores {
    /// Shares of 1.
    Softmax,
    /// A probability for each label by itself.
    Sigmoid,
    /// The logits.
    Plain,
}

impl Scores {
    /// The name in program files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Softmax => "softmax",
            Self::Sigmoid => "sigmoid",
            Self::Plain => "plain",
        }
    }
}

/// The names of the modules of an encoder. Names of parts of layers are within the layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncoderNames {
    /// The table of tokens.
    pub tokens: &'static str,
    /// The table of positions; empty for a model with RoPE.
    pub positions: &'static str,
    /// The table of token types.
    pub types: &'static str,
    /// The norm of embeddings; empty for a model without.
    pub norm: &'static str,
    /// The list of layers.
    pub layers: &'static str,
    /// The projection of queries, or of queries, keys and values.
    pub query: &'static str,
    /// The projection of keys.
    pub key: &'static str,
    /// The projection of values.
    pub value: &'static str,
    /// The projection behind attention.
    pub output: &'static str,
    /// The norm behind attention.
    pub attention_norm: &'static str,
    /// The first projection of the feed-forward network.
    pub up: &'static str,
    /// The projection that the activated first projection is multiplied with; empty where the first has both.
    pub factor: &'static str,
    /// The second projection of the feed-forward network.
    pub down: &'static str,
    /// The norm behind the feed-forward network.
    pub network_norm: &'static str,
}
