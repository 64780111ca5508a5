//! Text encoders beside a decoder: the decoder attends to the states of a text.

/// A text encoder (T5, Raffel et al. 2020) with the embedding, the heads and the feed-forward network of the decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The list of layers.
    pub layers: &'static str,
    /// The number of layers.
    pub count: usize,
    /// The feed-forward network of a layer.
    pub network: &'static str,
    /// The normalization ahead of the feed-forward network.
    pub network_norm: &'static str,
    /// The normalization behind the last layer.
    pub norm: &'static str,
    /// The table of relative positions, `[buckets, heads]`.
    pub table: &'static str,
}

/// Copies of the embedding in old checkpoints.
const COPIES: [&str; 2] = ["encoder.embed_tokens.weight", "decoder.embed_tokens.weight"];

impl Source {
    /// Whether a tensor has no use: copies of the embedding, and relative positions of cross-attention, which is read without positions.
    pub fn is_unused(&self, name: &str) -> bool {
        COPIES.contains(&name) || name.ends_with("EncDecAttention.relative_attention_bias.weight")
    }
}
