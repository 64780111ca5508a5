//! What mixes the tokens of a text in a layer, beside attention.

/// The part of a layer in which tokens read earlier tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mixer {
    /// Attention: that of the decoder.
    Attention,
    /// A short convolution between two gates (LFM2).
    Convolution(Convolution),
}

/// A gated short convolution: `output(c * convolution(b * x))`, with `b`, `c` and `x` from one matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// The tokens that a token reads, with itself.
    pub kernel: usize,
    /// Whether the projections and the convolution have biases.
    pub has_biases: bool,
    /// The names of the modules.
    pub names: ConvolutionNames,
}

/// The names of the modules of a convolution, as tensors have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvolutionNames {
    /// The mixer, in a layer.
    pub module: &'static str,
    /// The projection of the input, in the mixer.
    pub input: &'static str,
    /// The convolution, in the mixer.
    pub kernel: &'static str,
    /// The projection to the output, in the mixer.
    pub output: &'static str,
}
