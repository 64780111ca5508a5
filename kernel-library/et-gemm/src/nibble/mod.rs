//! Products of bytes with weights of half a byte that have a scale for each group of a column.

mod matrix;
#[cfg(target_arch = "x86_64")]
mod matrix_x86;
pub mod pack;
pub mod product;
pub mod rows;
pub mod scale;
pub mod tile;
