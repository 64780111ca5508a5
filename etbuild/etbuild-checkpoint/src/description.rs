//! The differences between the decoders of all families, as data.

mod attention;
mod beside;
mod hearing;
mod mixer;
mod network;
mod patches;
mod position;
mod source;
mod vision;

pub use attention::{Attention, AttentionTemperature, Biases, HeadNorm, Inputs, Latent, Relative};
pub use beside::{LayerInputs, Streams};
pub use hearing::{Cross, Hearing, Reader, SOUND_PROJECTOR, SOUND_TOWER, SoundTower};
pub use mixer::{Convolution, ConvolutionNames, Delta, DeltaInputs, Mixer, Scan, ScanScales, Steps};
pub use network::{
    Activation, Clamped, Cutoff, ExpertNorms, Experts, FeedForward, Gate, Groups, Routing, Shares, Storage,
};
pub use patches::{PatchNames, PatchProjector, PatchTurning, Patches, Windows};
pub use position::{Rotary, Scaling, Sections};
pub use source::Source;
pub use vision::{Mutual, PROJECTOR, Projector, TOWER, Tower, Vision, VisionEncoder};

use crate::{CheckpointError, Names, Options};

/// A decoder: layers of attention and feed-forward networks between an embedding and the output head.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoder {
    /// The size of the vocabulary in tokens.
    pub vocabulary: usize,
    /// The elements of a token between layers.
    pub width: usize,
    /// The most tokens of a text.
    pub longest: usize,
    /// The names of the modules.
    pub names: Names,
    /// The factor of the embedding.
    pub embedding_scale: Option<f64>,
    /// Whether the embedding is normalized.
    pub embedding_norm: bool,
    /// Learned position embeddings, which are added to the embedding.
    pub positions: Option<Positions>,
    /// Whether the embedding is also the output's matrix.
    pub tied: bool,
    /// Whether the output's matrix has a bias.
    pub head_bias: bool,
    /// Whether linear layers between embedding and head store the matrix `[columns, rows]`.
    pub transposed: bool,
    /// The layers.
    pub layers: Vec<Layer>,
    /// The rotary position embeddings of queries and keys; layers choose from the list.
    pub rotaries: Vec<Rotary>,
    /// The normalization of tokens.
    pub norm: Norm,
    /// The places of normalizations in a layer.
    pub norm_places: NormPlaces,
    /// The factor of what attention and the feed-forward network add to a token.
    pub residual_scale: Option<f64>,
    /// Whether the checkpoint has a factor of the output of each layer.
    pub has_layer_scales: bool,
    /// Embeddings of tokens for each layer, if any.
    pub layer_inputs: Option<LayerInputs>,
    /// The streams of hidden states, where a token has several.
    pub streams: Option<Streams>,
    /// Attention.
    pub attention: Attention,
    /// The attention of global layers, where it differs.
    pub global_attention: Option<Attention>,
    /// The feed-forward network.
    pub feed_forward: FeedForward,
    /// The experts of layers that have some in place of the feed-forward network.
    pub experts: Option<Experts>,
    /// The factor of the logits.
    pub logit_scale: Option<f64>,
    /// Logits are at most this: `tanh(logit / cap) * cap`.
    pub logit_cap: Option<f64>,
    /// The attention of each layer to the states of an encoder, if any.
    pub cross: Option<Cross>,
    /// The text encoder whose states cross-attention reads, if any.
    pub source: Option<Source>,
    /// The vision encoder, if any.
    pub vision: Option<Vision>,
    /// The audio encoder, if any.
    pub hearing: Option<Hearing>,
    /// Whether the checkpoint has encoders of pictures or sound that are left out.
    pub is_for_texts: bool,
}

/// Learned position embeddings: a row of a table for each position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positions {
    /// The row of the first position.
    pub first: usize,
    /// The rows of the table.
    pub rows: usize,
}

/// The differences between layers of one decoder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// The part in which tokens read earlier tokens.
    pub mixer: Mixer,
    /// Whether the attention is that of global layers.
    pub is_global: bool,
    /// The attention window: the positions that a token sees up to the token's own; `None` for all.
    pub window: Option<usize>,
    /// The earlier layer whose KV cache the layer reads, in place of a KV cache of its own.
    pub shared_cache: Option<usize>,
    /// The index of the rotary embedding of queries and keys; `None` for no rotary embedding.
    pub rotary: Option<usize>,
    /// Whether a feed-forward network, or experts, follow the mixer.
    pub has_network: bool,
    /// Whether experts take the place of the feed-forward network.
    pub has_experts: bool,
    /// The feed-forward network, where it differs from the decoder's.
    pub network: Option<FeedForward>,
}

/// Normalization.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norm {
    /// The statistics.
    pub kind: NormKind,
    /// The epsilon, added to the mean of squares or to the variance.
    pub epsilon: f64,
    /// Whether there are weights.
    pub has_weights: bool,
    /// Whether the stored weights are less by one.
    pub less_one: bool,
    /// Whether there are biases.
    pub has_biases: bool,
}

/// The statistics of a normalization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormKind {
    /// RMSNorm: the root of the mean of squares.
    RootMeanSquare,
    /// LayerNorm: mean and variance.
    Layer,
}

/// Where a layer normalizes: the names of the modules, each absent where a layer lacks the normalization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NormPlaces {
    /// Ahead of attention.
    pub before_attention: Option<&'static str>,
    /// Behind attention, of what attention adds to the token.
    pub behind_attention: Option<&'static str>,
    /// Ahead of the feed-forward network.
    pub before_network: Option<&'static str>,
    /// Behind the feed-forward network, of what the network adds to the token.
    pub behind_network: Option<&'static str>,
    /// Whether the feed-forward network reads the layer's input, as attention does, instead of the sum behind attention. A network
    /// without a normalization ahead then reads the normalized input of attention.
    pub is_parallel: bool,
}

impl NormPlaces {
    /// Ahead of both (Llama).
    pub const BEFORE: Self = Self {
        before_attention: Some("input_layernorm"),
        behind_attention: None,
        before_network: Some("post_attention_layernorm"),
        behind_network: None,
        is_parallel: false,
    };
    /// Ahead of both and behind both (Gemma 2).
    pub const AROUND: Self = Self {
        behind_attention: Some("post_attention_layernorm"),
        before_network: Some("pre_feedforward_layernorm"),
        behind_network: Some("post_feedforward_layernorm"),
        ..Self::BEFORE
    };
    /// Behind both (OLMo 2).
    pub const BEHIND: Self = Self { before_attention: None, before_network: None, ..Self::AROUND };
    /// One normalization ahead of both, which work side by side (Cohere).
    pub const SHARED: Self = Self { before_network: None, is_parallel: true, ..Self::BEFORE };
}

/// The name here of a tensor, by a table of the beginnings of names in checkpoints and here.
fn renamed(modules: &[(&str, &str)], name: &str) -> String {
    let found = modules.iter().find_map(|(theirs, ours)| Some(format!("{ours}{}", name.strip_prefix(theirs)?)));
    found.unwrap_or_else(|| name.to_owned())
}

impl Decoder {
    /// The name here of a tensor in the checkpoint.
    pub fn canonical(&self, name: &str) -> String {
        match (&self.vision, &self.hearing) {
            (Some(_), _) => vision::canonical(name),
            (None, Some(_)) => hearing::canonical(name),
            (None, None) if self.is_for_texts => vision::canonical(name),
            (None, None) => name.to_owned(),
        }
    }

    /// Has experts in stacks where the checkpoint, which has tensors of these names, has experts in stacks.
    pub fn find_stacks(&mut self, has: impl Fn(&str) -> bool) {
        let Some(index) = self.layers.iter().position(|layer| layer.has_experts) else { return };
        let layer = self.names.layer(index);
        if let Some(experts) = &mut self.experts {
            experts.stack(|name| has(&format!("{layer}.{name}")));
        }
    }

    /// The attention of a layer.
    pub fn attention_of(&self, layer: &Layer) -> &Attention {
        self.global_attention.as_ref().filter(|_| layer.is_global).unwrap_or(&self.attention)
    }

    /// The first layer from which on no layer has a KV cache of its own, or the number of layers.
    pub fn first_reader(&self) -> usize {
        self.layers.len() - self.layers.iter().rev().take_while(|layer| layer.shared_cache.is_some()).count()
    }

    /// The tokens that an encoder makes of a tile of a picture, or of a window of sound, for the prompt; `None` without an encoder, and where
    /// pictures have several sizes.
    pub fn tile(&self) -> Option<usize> {
        let of_picture = self.vision.as_ref().and_then(Vision::tile);
        of_picture.or_else(|| self.hearing.as_ref()?.tokens())
    }

    /// The tokens of a call that reads a tile, or a picture of at most `image_tokens` image tokens; `None` where a chunk of a prompt is enough.
    pub fn call(&self, image_tokens: u32) -> Option<usize> {
        self.vision.as_ref().and_then(|vision| vision.call(image_tokens)).or_else(|| self.tile())
    }

    /// Whether a layer has a state that cannot be cut at a token.
    pub fn is_recurrent(&self) -> bool {
        self.layers.iter().any(|layer| layer.mixer.is_recurrent())
    }

    /// Whether prompts have pictures or sounds beside texts.
    pub fn has_prompts_with_parts(&self) -> bool {
        self.vision.is_some() || self.tile().is_some()
    }

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

    /// The pairs that turn by time, row and column, where positions in a picture are such.
    pub fn sections(&self) -> Option<Sections> {
        self.rotaries.first()?.sections
    }

    /// The requested number of image tokens that a picture has at most, where pictures have several sizes; without a request, half of the
    /// context, up to the number that is usual for the model, or [`Options::IMAGE_TOKENS`].
    pub fn image_tokens(&self, context: u32, asked: Option<u32>) -> Result<u32, CheckpointError> {
        match asked {
            Some(asked) if asked == 0 || asked >= context => Err(CheckpointError::ImageTokens { asked, context }),
            Some(asked) => Ok(asked),
            None => {
                let usual = self.vision.as_ref().and_then(Vision::usual).unwrap_or(Options::IMAGE_TOKENS);
                Ok((context / 2).clamp(1, usual.max(1)))
            }
        }
    }

    /// Whether the hidden states can be rotated without another result.
    pub fn check_rotation(&self) -> Result<(), CheckpointError> {
        let NormPlaces { before_attention, behind_attention, before_network, behind_network, is_parallel } =
            self.norm_places;
        let is_ahead = before_attention.is_some() && (before_network.is_some() || is_parallel);
        let mistakes = [
            (
                behind_attention.or(behind_network).is_some(),
                "it normalizes behind attention and feed-forward networks too",
            ),
            (!is_ahead, "it does not normalize ahead of attention and feed-forward networks"),
            (self.norm.kind == NormKind::Layer || self.norm.has_biases, "it normalizes by mean and variance"),
            (self.attention.inputs == Inputs::FusedByHead, "its queries, keys and values are one matrix"),
            (self.attention.clip.is_some(), "it clips queries, keys and values"),
            (self.attention.latent.is_some(), "its keys and values are products of a latent"),
            (self.transposed, "its matrices are transposed"),
            (self.vision.is_some(), "it reads pictures"),
            (self.hearing.is_some(), "it hears"),
            (self.source.is_some(), "it has an encoder beside its decoder"),
            (self.experts.is_some(), "it is a mixture of experts"),
            (self.layers.iter().any(|layer| layer.mixer != Mixer::Attention), "not all of its layers attend"),
            (self.positions.is_some() || self.embedding_norm, "it changes its embedding"),
            (self.layer_inputs.is_some() || self.streams.is_some(), "it has embeddings of tokens for each layer"),
            (self.has_layer_scales, "its layers have factors"),
        ];
        match mistakes.iter().find(|(is_mistake, _)| *is_mistake) {
            Some((_, reason)) => Err(CheckpointError::Rotation(reason)),
            None => Ok(()),
        }
    }

    /// Whether the numbers fit together.
    pub fn check(&self) -> Result<(), CheckpointError> {
        for Attention { heads, key_heads, .. } in [&self.attention].into_iter().chain(&self.global_attention) {
            if heads % key_heads != 0 {
                return Err(CheckpointError::key("num_key_value_heads", format!("does not divide {heads} heads")));
            }
        }
        if let Some(Experts { count, chosen, .. }) = self.experts.filter(|experts| experts.chosen > experts.count) {
            return Err(CheckpointError::key("num_experts_per_tok", format!("is {chosen}, of {count} experts")));
        }
        self.experts.map_or(Ok(()), |experts| experts.check_groups())?;
        for (index, rotary) in self.rotaries.iter().enumerate() {
            let rotated = self.rotated(index);
            let listed = match &rotary.scaling {
                Scaling::ByPair { short, long, .. } => short.len() == rotary.pairs && long.len() == rotary.pairs,
                _ => true,
            };
            let in_order = rotary.sections.filter(|sections| !sections.takes_turns);
            let sections = in_order.map_or(rotary.pairs, |sections| sections.counts.iter().sum());
            if sections != rotary.pairs {
                let reason = format!("has {sections} pairs, and a head has {}", rotary.pairs);
                return Err(CheckpointError::key("mrope_section", reason));
            }
            if rotary.pairs == 0 || 2 * rotary.pairs > rotated || !listed {
                let reason = format!("has no angles for the {rotated} elements of a head");
                return Err(CheckpointError::key("rope_parameters", reason));
            }
        }
        Ok(())
    }

    /// The elements of a head that a rotary embedding may turn: of the layers that use it.
    fn rotated(&self, rotary: usize) -> usize {
        let user = self.layers.iter().find(|layer| layer.rotary == Some(rotary));
        let attention = user.map_or(&self.attention, |layer| self.attention_of(layer));
        attention.latent.map_or(attention.depth, |latent| latent.rotated)
    }
}
