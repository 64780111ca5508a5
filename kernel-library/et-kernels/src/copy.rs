//! Strided copies between tensors: permute, slice, roll, concatenate, window partition and window reverse.
//!
//! A copy is a box of elements with strides in both tensors. A roll is a copy per side of the seam, a concatenation is
//! a copy per input.

mod plan;
mod run;

pub use plan::Strided;
pub use run::{copy, copy_part};
