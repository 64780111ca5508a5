//! Depthwise convolution of NHWC images.
//!
//! Weights are `[rows, columns, channels]` of the kernel, so that the same layout serves vectors of any length.

mod blocks;
mod filter;
mod float;
mod int8;
mod lines;
mod pairs;

pub use filter::Requantization;
pub use float::depthwise;
pub use int8::depthwise_bytes;

/// Pixels per tile: the image widths of most networks are multiples of 7.
const PIXELS: usize = 7;
