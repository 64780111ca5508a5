//! Interpolation to another size, and sampling at a grid of places.

mod covering;
mod resize;

pub mod grid_sampler_2d;
pub mod grid_sampler_3d;
pub mod upsample_bicubic2d;
pub mod upsample_bicubic2d_aa;
pub mod upsample_bilinear2d;
pub mod upsample_bilinear2d_aa;
pub mod upsample_linear1d;
pub mod upsample_nearest1d;
pub mod upsample_nearest2d;
pub mod upsample_nearest3d;
pub mod upsample_trilinear3d;
