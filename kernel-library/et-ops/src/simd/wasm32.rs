//! WebAssembly's vectors of 128 bits, for builds with the target feature `simd128`.
#![allow(unused_unsafe)] // The functions of `core::arch` are safe here.
#![allow(unsafe_code)] // Arrays are vectors, by their bits.

use core::arch::wasm32::{f32x4_add, f32x4_mul, f32x4_splat, v128};

use super::Work;
use super::vector::vector;

vector!(v128, 4, f32x4_splat, f32x4_add, f32x4_mul);

/// Does the work; 8 of at least 16 registers hold accumulators.
pub fn run(work: impl Work) {
    work.run::<v128, 4, 4>();
}
