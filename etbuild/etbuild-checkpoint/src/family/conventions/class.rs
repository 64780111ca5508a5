//! What a configuration class of `transformers` says for all models of a family.

use crate::{Activation, Gate, Names, Norm, NormKind, NormPlaces};

/// The parts that all models of a family have, and default values for keys that a configuration lacks. Sizes that tensors depend on
/// have no default here: a configuration without such a key is refused.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// The names of modules.
    pub names: Names,
    /// The normalization; the epsilon is that of an absent `rms_norm_eps`.
    pub norm: Norm,
    /// The places of normalizations.
    pub places: NormPlaces,
    /// The gate of the feed-forward network.
    pub gate: Gate,
    /// Whether rotated pairs are neighbours.
    pub is_interleaved: bool,
    /// `hidden_act`.
    pub activation: Activation,
    /// `intermediate_size` in widths of a token, where the class computes an absent key.
    pub expansion: Option<usize>,
    /// `tie_word_embeddings`.
    pub tied: bool,
    /// `rope_theta`.
    pub theta: f64,
    /// `partial_rotary_factor`.
    pub rotated: f64,
    /// `max_position_embeddings`.
    pub longest: usize,
    /// `original_max_position_embeddings`, where the class has the key.
    pub original: Option<usize>,
    /// `sliding_window`.
    pub window: Option<usize>,
    /// `num_key_value_heads`; `None` for the number of attention heads.
    pub key_heads: Option<usize>,
    /// `head_dim`; `None` for the width divided by the number of attention heads.
    pub depth: Option<usize>,
    /// `attn_logit_softcapping`.
    pub score_cap: Option<f64>,
    /// `final_logit_softcapping`.
    pub logit_cap: Option<f64>,
}

impl Class {
    /// `LlamaConfig`.
    pub const LLAMA: Self = Self {
        names: Names::LLAMA,
        norm: Norm {
            kind: NormKind::RootMeanSquare,
            epsilon: 1e-6,
            has_weights: true,
            less_one: false,
            has_biases: false,
        },
        places: NormPlaces::BEFORE,
        gate: Gate::Separate,
        is_interleaved: false,
        activation: Activation::Silu,
        expansion: None,
        tied: false,
        theta: 10_000.0,
        rotated: 1.0,
        longest: 2048,
        original: None,
        window: None,
        key_heads: None,
        depth: None,
        score_cap: None,
        logit_cap: None,
    };

    /// The base class of the configuration classes of Gemma 2 and 3.
    pub const GEMMA: Self = Self {
        norm: Norm { less_one: true, ..Self::LLAMA.norm },
        activation: Activation::GeluTanh,
        tied: true,
        window: Some(4096),
        key_heads: Some(4),
        depth: Some(256),
        ..Self::LLAMA
    };

    /// Llama's class with LayerNorm: mean and variance, weights and biases, an epsilon of 1e-5.
    pub const LAYER_NORM: Self = Self {
        norm: Norm { kind: NormKind::Layer, epsilon: 1e-5, has_biases: true, ..Self::LLAMA.norm },
        ..Self::LLAMA
    };

    /// The class with another epsilon.
    pub const fn epsilon(self, epsilon: f64) -> Self {
        Self { norm: Norm { epsilon, ..self.norm }, ..self }
    }
}
