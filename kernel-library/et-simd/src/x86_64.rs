//! The ISAs of x86-64.

mod avx2;
mod avx512;
pub mod dot;
mod transpose;

pub use avx2::{Avx2, I32x8};
pub use avx512::{Avx512, I32x16};
