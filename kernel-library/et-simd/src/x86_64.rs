//! The ISAs of x86-64.

mod avx2;
mod avx512;
mod dot;
mod transpose;

pub use avx2::Avx2;
pub use avx512::Avx512;
pub use dot::{Avx512Vnni, AvxVnni};
