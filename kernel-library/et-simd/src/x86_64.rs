//! The instruction sets of 64-bit x86 processors.

mod avx2;
mod avx512;
mod detect;
pub mod dot;
mod look_up;
mod transpose;

pub use avx2::Avx2;
pub use avx512::Avx512;
