//! Fused activations of the kernels' epilogues.

use et_simd::{Float, Isa};

/// A fused activation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// The identity.
    Identity,
    /// Clamps to `[first, second]`.
    Clamp(f32, f32),
    /// `x * clamp(x + 3, 0, 6) / 6`
    Hardswish,
}

impl Activation {
    /// ReLU.
    pub const RELU: Self = Self::Clamp(0.0, f32::INFINITY);

    /// Applies the activation to each lane.
    #[inline(always)]
    pub(crate) fn apply<S: Isa>(self, isa: S, x: S::F32) -> S::F32 {
        match self {
            Self::Identity => x,
            Self::Clamp(least, greatest) => isa.splat(greatest).min(isa.splat(least).max(x)),
            Self::Hardswish => {
                let shifted = isa.splat(0.0).max(x + isa.splat(3.0));
                x * (isa.splat(6.0).min(shifted) * isa.splat(1.0 / 6.0))
            }
        }
    }
}
