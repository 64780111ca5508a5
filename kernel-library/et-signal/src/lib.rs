//! Signals of sensors as inputs of models, in fixed point, for processors without a floating-point unit: log-mel features and
//! mel-frequency cepstral coefficients (MFCC) of sound, and resized pictures of cameras. Results are equal bit for bit on every processor.
//!
//! Samples are int16. A frame is scaled to 29 bits (block floating point), and the FFT computes in 32 bits with 64-bit products. Nothing is
//! allocated: the caller lends memory.
#![no_std]

#[cfg(any(test, feature = "tables"))]
extern crate std;

mod fourier;
mod log_mel;
mod logarithm;
mod pixels;
mod root;
mod scaled;
#[cfg(any(test, feature = "tables"))]
pub mod tables;

pub use fourier::{is_supported, turns};
pub use log_mel::{Band, Framing, LogMel, Output};
pub use pixels::{Axis, FRACTION, HALF, PixelFormat, Pixels, luma, value, work_bytes};

/// Constants of a program.
pub trait Table<T>: Copy {
    /// The number at `index`; 0 behind the end.
    fn at(self, index: usize) -> T;

    /// The numbers at `index` and behind it.
    #[inline]
    fn pair(self, index: usize) -> (T, T) {
        (self.at(index), self.at(index + 1))
    }
}

impl<T: Copy + Default> Table<T> for &[T] {
    #[inline]
    fn at(self, index: usize) -> T {
        self.get(index).copied().unwrap_or_default()
    }
}
