//! Max and average pooling of NHWC images.

mod bytes;
mod floats;
mod run;

pub use bytes::{average_pool_bytes, max_pool_bytes};
pub use floats::{average_pool, max_pool};

/// The divisor of average pooling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Divisor {
    /// The number of kernel positions within the image (`count_include_pad = false`).
    Inside,
    /// A constant, such as the number of kernel positions.
    Fixed(f32),
}

impl Divisor {
    /// The divisor for `count` kernel positions within the image.
    #[inline(always)]
    fn of(self, inside: usize) -> f32 {
        match self {
            Self::Inside => inside as f32,
            Self::Fixed(number) => number,
        }
    }
}
