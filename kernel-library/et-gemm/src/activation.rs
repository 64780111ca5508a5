//! Activation functions that the epilogue of a GEMM applies.

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
    /// ReLU6: `clamp(x, 0, 6)`.
    pub const RELU6: Self = Self::Clamp(0.0, 6.0);

    /// Whether the activation is cheap enough to apply in registers, on the accumulators. Expensive activations run
    /// over the stored tile.
    pub(crate) const fn is_cheap(self) -> bool {
        matches!(self, Self::None | Self::Clamp(..) | Self::HardSwish)
    }

    /// The bounds of a clamp, or infinite bounds for the identity; `None` otherwise.
    pub(crate) const fn bounds(self) -> Option<[f32; 2]> {
        match self {
            Self::None => Some([f32::NEG_INFINITY, f32::INFINITY]),
            Self::Clamp(least, most) => Some([least, most]),
            _ => None,
        }
    }
}
