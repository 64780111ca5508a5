//! Pooling of channels-last images: the greatest or the mean number of a window, channel by channel.

mod bytes;
mod floats;

pub use bytes::{average_pool_bytes, max_pool_bytes};
pub use floats::{average_pool, max_pool};

/// What the sum of a window is divided by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Divisor {
    /// The taps that are within the image.
    Inside,
    /// A number, such as that of all taps.
    Fixed(f32),
}

impl Divisor {
    /// The number for a window with so many taps within the image.
    #[inline(always)]
    fn of(self, inside: usize) -> f32 {
        match self {
            Self::Inside => inside as f32,
            Self::Fixed(number) => number,
        }
    }
}
