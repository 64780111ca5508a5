//! Convolution of every channel of a channels-last image by a window of its own.
//!
//! Weights are `[rows, columns, channels]` of the window, so that the same ones serve vectors of any length.

mod arithmetic;
mod bytes;
mod convolve;
mod floats;
mod line;
mod pairs;
mod plan;

pub use bytes::{Requantization, depthwise_bytes};
pub use floats::depthwise;
