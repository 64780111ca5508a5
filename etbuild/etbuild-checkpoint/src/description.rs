//! The differences between the decoders of all families, as data.

use crate::{CheckpointError, Options};

/// A decoder: layers of attention and feed-forward networks between an embedding and the output head.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoder {
    /// The size of the vocabulary in tokens.
    pub vocabulary: usize,
    /// The elements of a token between layers.
    pub width: usize,
    /// The most tokens of a text.
    pub longest: usize,
    /// The factor of the embedding.
    pub embedding_scale: Option<f64>,
    /// Whether the embedding is also the output's matrix.
    pub tied: bool,
    /// The layers.
    pub layers: Vec<Layer>,
    /// The rotary position embeddings of queries and keys; layers choose from the list.
    pub rotaries: Vec<Rotary>,
    /// The normalization of tokens.
    pub norm: Norm,
    /// The places of normalizations in a layer.
    pub norm_places: NormPlaces,
    /// Attention.
    pub attention: Attention,
    /// The feed-forward network.
    pub feed_forward: FeedForward,
    /// Logits are at most this: `tanh(logit / cap) * cap`.
    pub logit_cap: Option<f64>,
}

/// The differences between layers of one decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The attention window: the positions that a token sees up to the token's own; `None` for all.
    pub window: Option<usize>,
    /// The index of the rotary embedding of queries and keys; `None` for no rotary embedding.
    pub rotary: Option<usize>,
}

/// Root mean square normalization.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norm {
    /// The epsilon, added to the mean of squares.
    pub epsilon: f64,
    /// Whether the stored weights are less by one.
    pub less_one: bool,
}

/// Where a layer normalizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormPlaces {
    /// Ahead of attention and ahead of the feed-forward network.
    Before,
    /// Behind attention and behind the feed-forward network as well.
    BeforeAndBehind,
}

/// Attention with shared heads.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// The heads of queries.
    pub heads: usize,
    /// The heads of keys and values, each for a group of neighbouring heads of queries.
    pub key_heads: usize,
    /// The elements of a head.
    pub depth: usize,
    /// The factor of the scores.
    pub scale: f64,
    /// Scores are at most this: `tanh(score / cap) * cap`.
    pub cap: Option<f64>,
    /// Which projections have biases.
    pub biases: Biases,
    /// Whether the projections to queries, keys and values are one matrix, in this order.
    pub fused: bool,
    /// Whether the heads of queries and keys are normalized.
    pub head_norm: HeadNorm,
}

/// Which of attention's projections have biases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Biases {
    /// No projection.
    None,
    /// The projections to queries, keys and values.
    Inputs,
    /// All four.
    All,
}

/// Normalization of the heads of queries and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadNorm {
    /// No normalization.
    None,
    /// Each head by itself, all with the same weights.
    Each,
}

/// The feed-forward network: `down(activation(gate(x)) * up(x))`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedForward {
    /// The elements between.
    pub width: usize,
    /// The activation.
    pub activation: Activation,
    /// Whether the projections have biases.
    pub biases: bool,
    /// Whether gate and up are one matrix, in this order.
    pub fused: bool,
}

/// An activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `x sigmoid(x)`.
    Silu,
    /// The Gaussian error linear unit.
    Gelu,
    /// GELU with the approximation by `tanh`.
    GeluTanh,
}

/// Rotary position embedding (Su et al. 2021).
#[derive(Clone, Debug, PartialEq)]
pub struct Rotary {
    /// The base of the wavelengths.
    pub theta: f64,
    /// The rotated pairs of elements: the first half of the elements with the second half.
    pub pairs: usize,
    /// RoPE scaling: the extension of a short context to a longer context.
    pub scaling: Scaling,
}

/// How wavelengths are stretched.
#[derive(Clone, Debug, PartialEq)]
pub enum Scaling {
    /// Not at all.
    None,
    /// All by a factor.
    Linear {
        /// The factor.
        factor: f64,
    },
    /// Long wavelengths by a factor, short wavelengths not, with a slope between (Llama 3.1).
    ByWavelength {
        /// The factor.
        factor: f64,
        /// The longest that stay are `original` divided by this.
        high: f64,
        /// The shortest that are stretched in full are `original` divided by this.
        low: f64,
        /// The longest text that the model was made for first.
        original: f64,
    },
    /// Each by a separate factor (Ding et al. 2024, LongRoPE): contexts up to `original` by one list, longer contexts by another.
    ByPair {
        /// The factors of contexts up to `original`.
        short: Vec<f64>,
        /// The factors of contexts longer than `original`.
        long: Vec<f64>,
        /// The longest text that the model was made for first.
        original: usize,
        /// The factor of cosines and sines.
        magnitude: f64,
    },
}

impl Decoder {
    /// The requested context, if the model supports the context; without a request, the model's context, up to [`Options::CONTEXT`].
    pub fn context(&self, asked: Option<u32>) -> Result<u32, CheckpointError> {
        match asked {
            Some(asked) if asked as usize > self.longest || asked == 0 => {
                Err(CheckpointError::Context { asked, longest: self.longest })
            }
            Some(asked) => Ok(asked),
            None => Ok(u32::try_from(self.longest).unwrap_or(u32::MAX).min(Options::CONTEXT)),
        }
    }

    /// Whether the hidden states can be rotated without another result.
    pub fn check_rotation(&self) -> Result<(), CheckpointError> {
        match self.norm_places {
            NormPlaces::Before => Ok(()),
            NormPlaces::BeforeAndBehind => {
                Err(CheckpointError::Rotation("it normalizes behind attention and feed-forward networks too"))
            }
        }
    }

    /// Whether the numbers fit together.
    pub fn check(&self) -> Result<(), CheckpointError> {
        let Attention { heads, key_heads, depth, .. } = self.attention;
        if heads % key_heads != 0 {
            return Err(CheckpointError::key("num_key_value_heads", format!("does not divide {heads} heads")));
        }
        for rotary in &self.rotaries {
            let listed = match &rotary.scaling {
                Scaling::ByPair { short, long, .. } => short.len() == rotary.pairs && long.len() == rotary.pairs,
                _ => true,
            };
            if rotary.pairs == 0 || 2 * rotary.pairs > depth || !listed {
                let reason = format!("has no angles for the {depth} elements of a head");
                return Err(CheckpointError::key("rope_parameters", reason));
            }
        }
        Ok(())
    }
}
