//! Fourier transforms.

mod transform;

pub mod fft_c2c;
pub mod fft_c2r;
pub mod fft_r2c;
