//! Kernels of bytes that stand for numbers: number = `scale * (byte - zero_point)`.
//!
//! Quantizing rounds to the nearest byte, the even one of two, and takes the first or last byte where a number is out of
//! range.

mod arithmetic;
mod convert;
mod dynamic;
mod rows;
mod table;

pub use arithmetic::{add, mul};
pub(crate) use convert::{ALL, Rescale, dequantize_block, quantize_block};
pub use convert::{dequantize, quantize, requantize};
pub use dynamic::quantize_rows;
pub use rows::{normalize, softmax};
pub use table::{Table, look_up, table};

/// How bytes stand for numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantization {
    /// The distance between two neighbouring numbers, above 0.
    pub scale: f32,
    /// The byte that is 0.
    pub zero_point: i32,
}
