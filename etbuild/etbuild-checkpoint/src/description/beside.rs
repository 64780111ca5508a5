//! What a decoder has beside the hidden states that pass from layer to layer.

/// Embeddings of tokens for each layer: a table has a row of `width` elements of each layer for a token, and each layer adds a product of
/// its part of the row to the hidden state (Gemma 3n, Gemma 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerInputs {
    /// The rows of the table.
    pub vocabulary: usize,
    /// The elements of a layer.
    pub width: usize,
    /// The padding token, whose row image tokens have.
    pub padding: u32,
}

/// Several streams of hidden states, of which each layer computes one, predicts it from all before, and corrects all by the result
/// (AltUp, Baykal et al. 2023).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streams {
    /// The streams.
    pub count: usize,
    /// The stream that layers compute.
    pub active: usize,
    /// Whether the active stream is scaled where it meets the embeddings for the layer.
    pub scales_active: bool,
    /// The elements between the two matrices that stand beside attention (LAuReL, Menghani et al. 2024).
    pub rank: usize,
}
