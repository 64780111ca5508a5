//! The operations: a file each, with the attributes and the arithmetic of the specification.

mod arithmetic;
mod clamp;
mod concat;
mod convolution;
mod pad;
mod pool;
mod reduce;
mod rescale;
mod reshape;
mod slice;
mod table;
mod transpose;

use std::fmt;

pub use arithmetic::{Add, Maximum, Mul, Sub};
pub use clamp::Clamp;
pub use concat::Concat;
pub use convolution::{Conv2d, DepthwiseConv2d, Window};
pub use pad::Pad;
pub use pool::{AvgPool2d, MaxPool2d, PoolWindow};
pub use reduce::ReduceSum;
pub use rescale::{Rescale, Scale};
pub use reshape::Reshape;
pub use slice::Slice;
pub use table::Table;
pub use transpose::Transpose;

use super::{Array, Code, Field};

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Integers(Vec<i32>),
    Integer(i32),
    Number(u32),
    Flag(bool),
    Bytes(Vec<u8>),
}

/// An operation: attributes for the file, and arithmetic for the interpreter.
pub trait Operation: fmt::Debug {
    /// The operator.
    fn code(&self) -> Code;

    /// The attributes in the order of their slots. Attributes of value 0 may be left out.
    fn attributes(&self) -> Vec<(Field, Value)> {
        Vec::new()
    }

    /// The result; `None` for unfit operands, and for a sum that exceeds its type.
    fn evaluate(&self, inputs: &[&Array]) -> Option<Array>;
}
