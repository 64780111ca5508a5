//! An encoder as plain data.

use crate::{Activation, Norm};

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
    /// The elements between the projections of the feed-forward network.
    pub inner: usize,
    /// The activation of the feed-forward network.
    pub activation: Activation,
    /// The norm of embeddings and layers.
    pub norm: Norm,
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
    /// The elements of a head of attention.
    pub const fn depth(&self) -> usize {
        self.width / self.heads
    }

    /// The task.
    pub fn task(&self) -> Task {
        match self.head {
            Head::Embedding { .. } => Task::Embedding,
            Head::Tokens(_) => Task::Labels,
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
        /// Whether the vector has the length 1.
        normalize: bool,
    },
    /// Logits for a text.
    Sequence(SequenceHead),
    /// Logits for each token, by the linear layer of this module.
    Tokens(&'static str),
}

/// Two linear layers over the first token's hidden state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceHead {
    /// The module of the first layer.
    pub dense: &'static str,
    /// Whether the activation between is ReLU in place of tanh.
    pub is_relu: bool,
    /// The module of the second layer.
    pub output: &'static str,
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
    /// The table of positions.
    pub positions: &'static str,
    /// The table of token types.
    pub types: &'static str,
    /// The norm of embeddings.
    pub norm: &'static str,
    /// The list of layers.
    pub layers: &'static str,
    /// The projection of queries.
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
    /// The second projection of the feed-forward network.
    pub down: &'static str,
    /// The norm behind the feed-forward network.
    pub network_norm: &'static str,
}
