//! int8 kernels: `value = scale * (byte - zero_point)`.
//!
//! Quantization rounds to the nearest int8, ties to even, and saturates.

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

/// Per-tensor qparams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantization {
    /// The scale, above 0.
    pub scale: f32,
    /// The zero point.
    pub zero_point: i32,
}
