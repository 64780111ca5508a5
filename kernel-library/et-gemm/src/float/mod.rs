//! Products of `f32`.

pub mod pack;
pub mod product;
pub mod rows;
pub mod tile;
pub mod transform;
pub mod winograd;
