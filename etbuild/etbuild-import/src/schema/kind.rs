//! The types of parameters.

/// The types of parameters, with lists apart from single items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `Tensor`.
    Tensor,
    /// `Tensor[]`, `Tensor?[]`.
    Tensors,
    /// `int`, `SymInt`.
    Int,
    /// `int[]`.
    Ints,
    /// `float`.
    Float,
    /// `float[]`.
    Floats,
    /// `bool`.
    Bool,
    /// `bool[]`.
    Bools,
    /// `Scalar`: any number.
    Scalar,
    /// `str`.
    Text,
    /// `ScalarType`.
    ScalarType,
    /// `MemoryFormat`.
    MemoryFormat,
    /// `Layout`, `Device`, `Generator`: the place of a result, without influence on the elements.
    Place,
}

impl Kind {
    /// The type of the items of a list; that of a single item is its own.
    pub const fn item(self) -> Self {
        match self {
            Self::Tensors => Self::Tensor,
            Self::Ints => Self::Int,
            Self::Floats => Self::Float,
            Self::Bools => Self::Bool,
            other => other,
        }
    }
}
