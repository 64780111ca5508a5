//! What the consumers of a tensor demand.

use et_core::ScalarType;

use crate::parameters::Bounds;

/// The demand for a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Want {
    /// Float, for a consumer that is fused with the producer of the tensor.
    Fused,
    /// int8, with static qparams.
    Int8,
    /// int16, with static qparams.
    Int16,
    /// int16 with the zero point 0, with a static scale.
    SymmetricInt16,
}

impl Want {
    /// The integers of the tensor, and their type.
    pub const fn integers(self) -> (Bounds, ScalarType) {
        match self {
            Self::Int16 => (Bounds::ACTIVATION16, ScalarType::Short),
            Self::SymmetricInt16 => (Bounds::SYMMETRIC16, ScalarType::Short),
            Self::Fused | Self::Int8 => (Bounds::ACTIVATION, ScalarType::Char),
        }
    }
}
