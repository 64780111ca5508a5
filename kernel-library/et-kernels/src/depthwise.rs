//! Depthwise convolution of NHWC images.
//!
//! Weights are `[rows, columns, channels]` of the kernel, so that the same layout serves vectors of any length.

mod arithmetic;
mod bytes;
mod convolve;
mod floats;
mod line;
mod pairs;
mod plan;

pub use bytes::{Requantization, depthwise_bytes};
pub use floats::depthwise;
