//! Kernels of bytes that stand for numbers: number = `scale * (byte - zero_point)`.
//!
//! Quantizing rounds to the nearest byte, the even one of two, and takes the first or last byte where a number is out of
//! range.

mod convert;

pub(crate) use convert::{Rescale, dequantize_block, quantize_block};
pub use convert::{dequantize, quantize, requantize};

/// How bytes stand for numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantization {
    /// The distance between two neighbouring numbers, above 0.
    pub scale: f32,
    /// The byte that is 0.
    pub zero_point: i32,
}
