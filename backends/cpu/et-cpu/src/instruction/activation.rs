//! Activation functions of the GEMM epilogue.

use crate::record::records;

records! {
    /// An activation function with clamp limits, fused into the epilogue of a GEMM or convolution.
    pub struct Activation {
        /// The number of an [`ActivationKind`].
        pub kind: u32,
        /// The lower clamp limit.
        pub low: f32,
        /// The upper clamp limit.
        pub high: f32,
    }
}

/// The activation function that the epilogue applies to an accumulator before the clamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum ActivationKind {
    /// The identity.
    #[default]
    Identity,
    /// `x * clamp(x + 3, 0, 6) / 6`.
    Hardswish,
    /// `clamp(x + 3, 0, 6) / 6`.
    Hardsigmoid,
    /// `x * sigmoid(x)`.
    Silu,
    /// `x * Phi(x)` by the error function.
    Gelu,
    /// GELU by the tanh approximation.
    GeluTanh,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
}

impl ActivationKind {
    const ALL: [Self; 7] =
        [Self::Identity, Self::Hardswish, Self::Hardsigmoid, Self::Silu, Self::Gelu, Self::GeluTanh, Self::Sigmoid];

    /// The activation function with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }
}

impl Activation {
    /// An activation function without clamp limits.
    pub const fn of(kind: ActivationKind) -> Self {
        Self { kind: kind as u32, low: f32::NEG_INFINITY, high: f32::INFINITY }
    }

    /// A clamp without an activation function, as of a fused ReLU.
    pub const fn clamp(low: f32, high: f32) -> Self {
        Self { kind: ActivationKind::Identity as u32, low, high }
    }
}
