//! Files to pixels and samples.

mod jpeg;
mod png;
mod raw;
mod wav;

pub use jpeg::decode as jpeg;
pub use png::{Transparency, decode as png};
pub use raw::{pixels, samples};
pub use wav::{Recording, decode as wav};

/// The most pixels of a picture, so that a small file cannot ask for all memory.
const MOST_PIXELS: usize = 1 << 27;

/// Refuses pictures of more than [`MOST_PIXELS`].
fn checked(width: usize, height: usize) -> Result<(), String> {
    let pixels = width.checked_mul(height);
    match pixels {
        Some(pixels) if pixels <= MOST_PIXELS => Ok(()),
        _ => Err(format!("{width}x{height} pixels are more than {MOST_PIXELS}")),
    }
}
