//! What is done to each element of a product.

use crate::record::records;

records! {
    /// What is done to each element of a product.
    pub struct Activation {
        /// The number of an [`ActivationKind`].
        pub kind: u32,
        /// The least result.
        pub low: f32,
        /// The greatest result.
        pub high: f32,
    }
}

/// What an element of a product becomes, before it is kept between the limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum ActivationKind {
    /// Itself.
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
    /// The same by a hyperbolic tangent.
    GeluTanh,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
}

impl ActivationKind {
    const ALL: [Self; 7] =
        [Self::Identity, Self::Hardswish, Self::Hardsigmoid, Self::Silu, Self::Gelu, Self::GeluTanh, Self::Sigmoid];

    /// The kind with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }
}

impl Activation {
    /// The results of a function, whatever they are.
    pub const fn of(kind: ActivationKind) -> Self {
        Self { kind: kind as u32, low: f32::NEG_INFINITY, high: f32::INFINITY }
    }

    /// Itself, kept between two limits.
    pub const fn clamp(low: f32, high: f32) -> Self {
        Self { kind: ActivationKind::Identity as u32, low, high }
    }
}
