//! What distinguishes the decoders of all families, as data.

use crate::{CheckpointError, Options};

/// A decoder: layers of attention and feed-forward networks between an embedding and its inverse.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoder {
    /// The number of tokens that there are.
    pub vocabulary: usize,
    /// The elements of a token between layers.
    pub width: usize,
    /// The most tokens of a text.
    pub longest: usize,
    /// What the embedding is multiplied with.
    pub embedding_scale: Option<f64>,
    /// Whether the embedding is also the output's matrix.
    pub tied: bool,
    /// The layers.
    pub layers: Vec<Layer>,
    /// How queries and keys are turned; layers choose from them.
    pub rotaries: Vec<Rotary>,
    /// The normalization of tokens.
    pub norm: Norm,
    /// Where in a layer it stands.
    pub norm_places: NormPlaces,
    /// Attention.
    pub attention: Attention,
    /// The feed-forward network.
    pub feed_forward: FeedForward,
    /// Logits are at most this: `tanh(logit / cap) * cap`.
    pub logit_cap: Option<f64>,
}

/// What layers of one decoder differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// How many positions a token sees up to its own; `None` for all.
    pub window: Option<usize>,
    /// Which of the decoder's rotaries turns queries and keys; `None` for none.
    pub rotary: Option<usize>,
}

/// Root mean square normalization.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norm {
    /// What is added to the mean of squares.
    pub epsilon: f64,
    /// Whether the weights are stored less one.
    pub less_one: bool,
}

/// Where a layer normalizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormPlaces {
    /// Ahead of attention and ahead of the feed-forward network.
    Before,
    /// Behind each of them as well.
    BeforeAndBehind,
}

/// Attention with shared heads.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// The heads of queries.
    pub heads: usize,
    /// The heads of keys and values, each for as many neighbouring heads of queries.
    pub key_heads: usize,
    /// The elements of a head.
    pub depth: usize,
    /// What scores are multiplied with.
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
    /// None.
    None,
    /// Those to queries, keys and values.
    Inputs,
    /// All four.
    All,
}

/// Normalization of the heads of queries and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadNorm {
    /// There is none.
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
    /// Its approximation by `tanh`.
    GeluTanh,
}

/// Rotary position embedding (Su et al. 2021).
#[derive(Clone, Debug, PartialEq)]
pub struct Rotary {
    /// The base of the wavelengths.
    pub theta: f64,
    /// The pairs of elements that are turned: the first half of them with the second.
    pub pairs: usize,
    /// How a model that was made for short texts is stretched to longer ones.
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
    /// Long ones by a factor, short ones not, with a slope between them (Llama 3.1).
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
    /// Each by its own factor (Ding et al. 2024, LongRoPE): positions up to `original` by one list, those behind by another.
    ByPair {
        /// The factors of positions below `original`.
        short: Vec<f64>,
        /// Those of others.
        long: Vec<f64>,
        /// The longest text that the model was made for first.
        original: usize,
        /// What cosines and sines are multiplied with.
        magnitude: f64,
    },
}

impl Decoder {
    /// The context that is asked for, if the model can that; what it can by itself, up to [`Options::CONTEXT`].
    pub fn context(&self, asked: Option<u32>) -> Result<u32, CheckpointError> {
        match asked {
            Some(asked) if asked as usize > self.longest || asked == 0 => {
                Err(CheckpointError::Context { asked, longest: self.longest })
            }
            Some(asked) => Ok(asked),
            None => Ok(u32::try_from(self.longest).unwrap_or(u32::MAX).min(Options::CONTEXT)),
        }
    }

    /// Whether what layers hand on can be rotated without another result.
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
