//! Products of bytes with weights of half a byte that have a scale for each group of a column.

pub mod pack;
pub mod product;
pub mod rows;
pub mod tile;
