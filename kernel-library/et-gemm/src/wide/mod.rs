//! Products of rows of `f32` with weights that are packed as integers.

pub mod product;
pub mod unpack;
