//! NEON (Advanced SIMD), which every 64-bit Arm application processor has.
#![allow(unsafe_code)] // Calls functions of `core::arch`.

use core::arch::aarch64::{float32x4_t, vaddq_f32, vdupq_n_f32, vmulq_f32};

use super::Work;
use super::vector::vector;

vector!(float32x4_t, 4, vdupq_n_f32, vaddq_f32, vmulq_f32);

/// Does the work; 16 of 32 registers hold accumulators.
pub fn run(work: impl Work) {
    work.run::<float32x4_t, 4, 8>();
}
