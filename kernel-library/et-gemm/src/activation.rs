//! What is applied to an element of a product before it is stored.

/// A function of one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// The element itself.
    None,
    /// At least the first, at most the second; what is not a number stays so.
    Clamp(f32, f32),
    /// `x * clamp(x + 3, 0, 6) / 6`.
    HardSwish,
    /// `clamp(x + 3, 0, 6) / 6`.
    HardSigmoid,
    /// `x * (1 + erf(x / sqrt(2))) / 2`.
    Gelu,
    /// Its approximation by a hyperbolic tangent.
    GeluTanh,
    /// `x / (1 + exp(-x))`.
    Silu,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
}

impl Activation {
    /// At least zero.
    pub const RELU: Self = Self::Clamp(0.0, f32::INFINITY);
    /// From zero to six.
    pub const RELU6: Self = Self::Clamp(0.0, 6.0);

    /// Whether it takes so few instructions that tiles apply it while sums are in registers; others wait until a tile is stored.
    pub(crate) const fn is_cheap(self) -> bool {
        matches!(self, Self::None | Self::Clamp(..) | Self::HardSwish)
    }

    /// The bounds, if it is a clamp or nothing.
    pub(crate) const fn bounds(self) -> Option<[f32; 2]> {
        match self {
            Self::None => Some([f32::NEG_INFINITY, f32::INFINITY]),
            Self::Clamp(least, most) => Some([least, most]),
            _ => None,
        }
    }
}
