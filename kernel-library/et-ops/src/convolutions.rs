//! Convolutions of one to three dimensions, also transposed, and their gradients.

mod depthwise;
mod patch;
mod picture;
mod tiled_convolution;

pub mod convolution;
pub mod convolution_backward;
