//! Activation functions that kernels apply in their epilogues.

use crate::{Simd, math};

/// An elementwise activation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// The identity.
    None,
    /// Clamps to `[first, second]`; NaN stays NaN.
    Clamp(f32, f32),
    /// `x * clamp(x + 3, 0, 6) / 6`.
    HardSwish,
    /// `clamp(x + 3, 0, 6) / 6`.
    HardSigmoid,
    /// `x * (1 + erf(x / sqrt(2))) / 2`.
    Gelu,
    /// GELU in the tanh approximation.
    GeluTanh,
    /// `x / (1 + exp(-x))`.
    Silu,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
}

impl Activation {
    /// ReLU: `max(x, 0)`.
    pub const RELU: Self = Self::Clamp(0.0, f32::INFINITY);

    /// Whether the activation is cheap enough to apply in registers, on the accumulators.
    pub const fn is_cheap(self) -> bool {
        matches!(self, Self::None | Self::Clamp(..) | Self::HardSwish)
    }

    /// The bounds of a clamp, or infinite bounds for the identity; `None` otherwise.
    pub const fn bounds(self) -> Option<[f32; 2]> {
        match self {
            Self::None => Some([f32::NEG_INFINITY, f32::INFINITY]),
            Self::Clamp(least, most) => Some([least, most]),
            _ => None,
        }
    }

    /// Applies the activation to each lane.
    #[inline(always)]
    pub fn apply<S: Simd>(self, isa: S, x: S::F32) -> S::F32 {
        match self {
            Self::None => x,
            Self::Clamp(least, most) => math::clamp(isa, x, least, most),
            Self::HardSwish => x * math::hard_sigmoid(isa, x),
            Self::HardSigmoid => math::hard_sigmoid(isa, x),
            Self::Gelu => math::gelu(isa, x),
            Self::GeluTanh => math::gelu_tanh(isa, x),
            Self::Silu => math::silu(isa, x),
            Self::Sigmoid => math::sigmoid(isa, x),
        }
    }

    /// Calls `run` with the activation, in a branch per variant: an inlined loop in `run` has no branch on the
    /// activation.
    #[inline(always)]
    pub fn specialize(self, mut run: impl FnMut(Self)) {
        match self {
            Self::None => run(Self::None),
            Self::Clamp(least, most) => run(Self::Clamp(least, most)),
            Self::HardSwish => run(Self::HardSwish),
            Self::HardSigmoid => run(Self::HardSigmoid),
            Self::Gelu => run(Self::Gelu),
            Self::GeluTanh => run(Self::GeluTanh),
            Self::Silu => run(Self::Silu),
            Self::Sigmoid => run(Self::Sigmoid),
        }
    }
}
