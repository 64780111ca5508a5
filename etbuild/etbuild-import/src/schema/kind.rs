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
