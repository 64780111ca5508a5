//! Copies between tensors of any strides: permuting, slicing, rolling, concatenating, windows and their reverse.
//!
//! A copy is a box of elements that two tensors see at different places. Rolling is a copy for each side of the seam,
//! concatenating one for each input.

mod gather;
mod plan;
mod run;

pub use gather::gather_rows;
pub use plan::Strided;
pub use run::{copy, copy_part};
