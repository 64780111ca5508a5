//! Feed-forward networks and mixtures of experts.

use crate::ExpertNames;

/// The feed-forward network: `down(activation(gate(x)) * up(x))`, or `down(activation(up(x)))` without a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedForward {
    /// The elements between.
    pub width: usize,
    /// The activation.
    pub activation: Activation,
    /// Whether the projections have biases.
    pub biases: bool,
    /// The gate.
    pub gate: Gate,
}

/// The gate of a feed-forward network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// No gate.
    None,
    /// A matrix beside the matrix `up`.
    Separate,
    /// The first half of the rows of one matrix, whose second half is `up`.
    Fused,
}

/// A mixture of experts (Shazeer et al. 2017): networks with a gate, of which each token passes the likeliest ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Experts {
    /// The experts of a layer.
    pub count: usize,
    /// The experts that a token passes.
    pub chosen: usize,
    /// The elements between the projections of an expert.
    pub width: usize,
    /// Whether the shares of the chosen experts are divided by their sum.
    pub is_normalized: bool,
    /// How the matrices are stored.
    pub storage: Storage,
    /// The names of the modules.
    pub names: ExpertNames,
    /// The elements between the projections of a network that every token passes, if any.
    pub shared: Option<usize>,
    /// Whether every token also passes the decoder's network, whose output is added.
    pub is_beside_network: bool,
    /// Whether router and projections have biases.
    pub has_biases: bool,
    /// The clamped form of the gate, if any.
    pub clamped: Option<Clamped>,
}

/// A gate whose inputs are clamped (gpt-oss): `(up + 1) * gate * sigmoid(slope * gate)` with a `gate` of at most `most`, and an `up`
/// at most `most` away from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clamped {
    /// The slope.
    pub slope: f64,
    /// The limit.
    pub most: f64,
}

/// How the matrices of experts are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Three matrices for each expert.
    Listed,
    /// Two tensors for all experts: `[experts, rows of gate and up, columns]`, and `[experts, rows of down, columns]`.
    Stacked,
    /// As `Stacked` with transposed matrices, in which rows of gate and up take turns.
    Interleaved,
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
    /// `x sigmoid(1.702 x)`.
    QuickGelu,
    /// `max(x, 0)`.
    Relu,
    /// The square of `max(x, 0)`.
    ReluSquared,
}
