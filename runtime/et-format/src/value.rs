//! An entry of a method's value table.

use et_core::{Doubles, Error, Indices, Longs, Result, ascii};

use crate::Table;
use crate::view::views;

views! {
    /// A value of a kind of [`Kind`].
    EValue;
}

/// The kind of a value, numbered as in the schema's union `KernelTypes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// An absent value.
    Null = 1,
    /// A 64-bit integer.
    Int = 2,
    /// A boolean.
    Bool = 3,
    /// A binary64 number.
    Double = 4,
    /// A tensor.
    Tensor = 5,
    /// Text.
    String = 6,
    /// Indices of integers in the value table, 64 bits each.
    IntList = 7,
    /// Binary64 numbers.
    DoubleList = 8,
    /// Booleans, a byte each.
    BoolList = 9,
    /// Indices of tensors in the value table.
    TensorList = 10,
    /// Indices of tensors in the value table, -1 for an absent tensor.
    OptionalTensorList = 11,
}

impl Kind {
    const ALL: [Self; 11] = [
        Self::Null,
        Self::Int,
        Self::Bool,
        Self::Double,
        Self::Tensor,
        Self::String,
        Self::IntList,
        Self::DoubleList,
        Self::BoolList,
        Self::TensorList,
        Self::OptionalTensorList,
    ];
}

/// [`EValue::kind`] decides which accessor is valid; another accessor fails or returns meaningless bytes.
impl<'a> EValue<'a> {
    /// The kind of the value.
    pub fn kind(self) -> Result<Kind> {
        let number = usize::from(self.0.u8(0)?);
        Kind::ALL.get(number.wrapping_sub(1)).copied().ok_or(Error::InvalidProgram)
    }

    /// The table that holds the value.
    pub fn content(self) -> Result<Table<'a>> {
        self.0.required_table(1)
    }

    /// The integer.
    pub fn int(self) -> Result<i64> {
        self.content()?.u64(0).map(u64::cast_signed)
    }

    /// The boolean.
    pub fn bool(self) -> Result<bool> {
        self.content()?.u8(0).map(|byte| byte != 0)
    }

    /// The floating-point number.
    pub fn double(self) -> Result<f64> {
        self.content()?.u64(0).map(f64::from_bits)
    }

    /// The text, which must be ASCII.
    pub fn string(self) -> Result<&'a str> {
        ascii(self.content()?.vector(0, 1)?)
    }

    /// The items of an integer list: indices into the value table.
    pub fn int_list(self) -> Result<Longs<'a>> {
        self.content()?.vector(0, 8).map(Longs::new)
    }

    /// The items of a list of floating-point numbers.
    pub fn double_list(self) -> Result<Doubles<'a>> {
        self.content()?.vector(0, 8).map(Doubles::new)
    }

    /// The items of a list of booleans, a byte each.
    pub fn bool_list(self) -> Result<&'a [u8]> {
        self.content()?.vector(0, 1)
    }

    /// The items of a list of tensors, optional or not: indices into the value table.
    pub fn tensor_list(self) -> Result<Indices<'a>> {
        self.content()?.vector(0, 4).map(Indices::new)
    }
}
