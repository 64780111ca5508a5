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

    /// Runs a loop over elements, in a branch per variant: the loop has no branch on the activation.
    #[inline(always)]
    pub fn specialize(self, work: impl ActivationLoop) {
        match self {
            Self::None => work.run(Identity),
            Self::Clamp(least, most) => work.run(Clamp(least, most)),
            Self::HardSwish => work.run(HardSwish),
            Self::HardSigmoid => work.run(HardSigmoid),
            Self::Gelu => work.run(Gelu),
            Self::GeluTanh => work.run(GeluTanh),
            Self::Silu => work.run(Silu),
            Self::Sigmoid => work.run(Sigmoid),
        }
    }

    /// Runs a loop like [`Self::specialize`] for a [cheap](Self::is_cheap) activation that changes elements, and nothing for
    /// any other.
    #[inline(always)]
    pub fn specialize_cheap(self, work: impl ActivationLoop) {
        match self {
            Self::Clamp(least, most) => work.run(Clamp(least, most)),
            Self::HardSwish => work.run(HardSwish),
            _ => {}
        }
    }
}

/// A loop over elements that applies an activation.
pub trait ActivationLoop {
    /// Runs the loop.
    fn run<F: Formula>(self, formula: F);
}

/// An activation as a type: code for an activation contains no code of another, which compilers would have to remove.
pub trait Formula: Copy {
    /// Applies the activation to each lane.
    fn apply<S: Simd>(self, isa: S, x: S::F32) -> S::F32;
}

macro_rules! formulas {
    ($($(#[$documentation:meta])* $name:ident $(($($bound:ident: $type:ty),+))? = |$isa:ident, $x:ident| $result:expr;)+) => { $(
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name $(($(pub $type),+))?;

        impl Formula for $name {
            #[inline(always)]
            fn apply<S: Simd>(self, $isa: S, $x: S::F32) -> S::F32 {
                $(let Self($($bound),+) = self;)?
                $result
            }
        }
    )+ };
}

formulas! {
    /// [`Activation::None`].
    Identity = |_isa, x| x;
    /// [`Activation::Clamp`].
    Clamp(least: f32, most: f32) = |isa, x| math::clamp(isa, x, least, most);
    /// [`Activation::HardSwish`].
    HardSwish = |isa, x| x * math::hard_sigmoid(isa, x);
    /// [`Activation::HardSigmoid`].
    HardSigmoid = |isa, x| math::hard_sigmoid(isa, x);
    /// [`Activation::Gelu`].
    Gelu = |isa, x| math::gelu(isa, x);
    /// [`Activation::GeluTanh`].
    GeluTanh = |isa, x| math::gelu_tanh(isa, x);
    /// [`Activation::Silu`].
    Silu = |isa, x| math::silu(isa, x);
    /// [`Activation::Sigmoid`].
    Sigmoid = |isa, x| math::sigmoid(isa, x);
}
