//! What a slot of a method's value table holds: ExecuTorch's `EValue`.

use crate::{Doubles, Indices, Longs, Tensor};

/// A value of a running method. Lists refer to other slots of the table where the file format does.
#[derive(Clone, Copy, Debug, Default)]
pub enum Value<'a> {
    /// Nothing: an absent optional argument.
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
    /// Slots that hold integers; the file format gives them in 64 bits.
    IntList(Longs<'a>),
    /// Floating-point numbers.
    DoubleList(Doubles<'a>),
    /// Booleans, one byte each.
    BoolList(&'a [u8]),
    /// Slots that hold tensors.
    TensorList(Indices<'a>),
    /// Slots that hold tensors; -1 for none.
    OptionalTensorList(Indices<'a>),
}
