//! The values of a method: ExecuTorch's `EValue`.

use crate::{Doubles, Indices, Longs, Tensor};

/// A value of a method. Lists refer to other values by index, as in the file format.
#[derive(Clone, Copy, Debug, Default)]
pub enum Value<'a> {
    /// An absent optional argument.
    #[default]
    None,
    /// An integer or a symbolic size.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// A floating-point number.
    Double(f64),
    /// A tensor.
    Tensor(Tensor<'a>),
    /// Text.
    String(&'a str),
    /// Indices of integer values; the file format has 64 bits per index.
    IntList(Longs<'a>),
    /// Floating-point numbers.
    DoubleList(Doubles<'a>),
    /// Booleans, a byte each.
    BoolList(&'a [u8]),
    /// Slots that hold tensors.
    TensorList(Indices<'a>),
    /// Indices of tensor values, -1 for an absent tensor.
    OptionalTensorList(Indices<'a>),
}
