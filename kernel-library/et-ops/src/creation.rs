//! Tensors from nothing but sizes and numbers: constants, ranges, random numbers.

pub mod arange;
pub mod empty;
pub mod empty_dim_order;
pub mod fill;
pub mod full;
pub mod full_like;
pub mod ones;
pub mod rand;
pub mod randn;
pub mod scalar_tensor;
pub mod zeros;
