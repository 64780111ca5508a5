//! Convolution of every channel of a channels-last image by a window of its own.
//!
//! Weights are `[rows, columns, channels]` of the window, so that the same ones serve vectors of any length.

mod accumulate;
mod bytes;
mod floats;

pub use bytes::{Requantization, depthwise_bytes, zero_point_sums};
pub use floats::depthwise;
