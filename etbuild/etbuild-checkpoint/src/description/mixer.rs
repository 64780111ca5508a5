//! What mixes the tokens of a text in a layer, beside attention.

use crate::Activation;

/// The part of a layer in which tokens read earlier tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mixer {
    /// Attention: that of the decoder.
    Attention,
    /// A short convolution between two gates (LFM2).
    Convolution(Convolution),
    /// A selective state space (Mamba).
    Scan(Scan),
    /// Linear attention by the gated delta rule (Qwen3-Next, Qwen 3.5).
    Delta(Delta),
    /// None: the layer is a feed-forward network, or experts, alone (Nemotron-H).
    None,
    /// A state space, and beside it the decoder's attention with these factors of its input and its output; the sum of both (Falcon-H1).
    Both(Scan, [f64; 2]),
}

impl Mixer {
    /// Whether what a token reads of earlier tokens is a state of one size, which cannot be cut at a token.
    pub const fn is_recurrent(&self) -> bool {
        matches!(self, Self::Scan(_) | Self::Delta(_) | Self::Both(..))
    }
}

/// Linear attention by the gated delta rule (Yang et al. 2024), behind a short convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delta {
    /// The heads of values.
    pub heads: usize,
    /// The heads of keys and queries, each for a group of neighbouring heads of values.
    pub key_heads: usize,
    /// The elements of a head of values.
    pub depth: usize,
    /// The elements of a head of keys or queries.
    pub width: usize,
    /// The tokens that the convolution reads.
    pub kernel: usize,
    /// The activation behind the convolution, and of the gate.
    pub activation: Activation,
    /// How the projections of the input are stored.
    pub inputs: DeltaInputs,
    /// Whether neighbouring heads of values belong to neighbouring heads of keys, over and over, instead of groups to one head each.
    pub is_tiled: bool,
    /// Whether checkpoints have rates, instead of the logarithms of their absolute values.
    pub stores_rates: bool,
    /// The mixer, in a layer.
    pub module: &'static str,
}

/// How the projections of the input of linear attention are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaInputs {
    /// Two matrices, in which the rows of each head of keys are neighbours: queries, keys, values and gate; shares and steps (Qwen3-Next).
    FusedByHead,
    /// Three matrices: queries, keys and values one behind the other; the gate; shares and steps of each head of keys (Qwen3-Next in GGUF).
    SeparateRows,
    /// Four matrices: queries, keys and values one behind the other; the gate; the shares; the steps (Qwen 3.5).
    Separate,
}

/// A selective state space (Gu and Dao 2023): a short convolution, and a scan with a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scan {
    /// The heads, each with a step of its own.
    pub heads: usize,
    /// The elements of a head.
    pub depth: usize,
    /// The elements of the state for each element of a head.
    pub states: usize,
    /// The groups of heads that share the inputs B and C.
    pub groups: usize,
    /// The tokens that the convolution reads.
    pub kernel: usize,
    /// Where steps and the inputs B and C come from.
    pub steps: Steps,
    /// The activation behind the convolution, and of the gate.
    pub activation: Activation,
    /// Whether the projections of the mixer's input and output have biases.
    pub has_biases: bool,
    /// Whether the convolution has biases.
    pub has_convolution_biases: bool,
    /// Whether checkpoints have rates, instead of the logarithms of their absolute values.
    pub stores_rates: bool,
    /// The least and the greatest step of the tokens of a prompt; `None` without limits.
    pub limits: Option<[f64; 2]>,
    /// The factors of the input, of the parts of the projection and of the output; `None` without factors.
    pub scales: Option<ScanScales>,
    /// The mixer, in a layer.
    pub module: &'static str,
}

/// Factors in a state space of Mamba 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScanScales {
    /// Of the mixer's input.
    pub input: f64,
    /// Of the gate, the rows of the scan, the inputs B and C, and the steps.
    pub parts: [f64; 5],
    /// Of the mixer's output.
    pub output: f64,
}

/// Where the steps of a scan and the inputs B and C come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steps {
    /// From the scan's input behind the convolution, by a matrix of few rows (Mamba).
    Narrow {
        /// The rank of the steps.
        rank: usize,
        /// The epsilon of an RMSNorm without weights of steps, B and C each, if there is one.
        norm: Option<f64>,
    },
    /// From the mixer's input (Mamba 2), with B and C through the convolution.
    Direct {
        /// The epsilon of the RMSNorm of each group; `None` without RMSNorm.
        norm: Option<f64>,
        /// Whether the RMSNorm is ahead of the gate.
        is_ahead: bool,
    },
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
