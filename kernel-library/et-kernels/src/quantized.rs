//! int8 kernels: `value = scale * (byte - zero_point)`.
//!
//! Quantization rounds to the nearest int8, ties to even, and saturates.

mod convert;

pub use convert::dequantize;
pub(crate) use convert::{ALL, Rescale, dequantize_block, quantize_block};

/// Per-tensor qparams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantization {
    /// The scale, above 0.
    pub scale: f32,
    /// The zero point.
    pub zero_point: i32,
}
