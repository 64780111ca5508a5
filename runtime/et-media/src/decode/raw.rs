//! Pixels and samples that somebody else has decoded.

use super::{Recording, checked};
use crate::image::Picture;

/// The picture of these pixels: red, green and blue, row by row.
///
/// # Errors
/// Another number of bytes; a picture without a pixel, or with too many.
pub fn pixels(bytes: &[u8], width: usize, height: usize) -> Result<Picture, String> {
    checked(width, height)?;
    let misfit = || format!("{width}x{height} pixels of 3 bytes are not {} bytes", bytes.len());
    Picture::new(width, height, 3, bytes.to_vec()).ok_or_else(misfit)
}

/// The recording of these samples.
///
/// # Errors
/// A rate of 0; a sample that is infinite or no number.
pub fn samples(samples: &[f32], rate: u32) -> Result<Recording, String> {
    if rate == 0 {
        return Err("the sampling rate is 0".to_owned());
    }
    match samples.iter().position(|sample| !sample.is_finite()) {
        Some(index) => Err(format!("sample {index} is {}", samples.get(index).copied().unwrap_or(f32::NAN))),
        None => Ok(Recording { rate, samples: samples.to_vec() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_have_three_bytes_each() {
        assert_eq!(pixels(&[1, 2, 3, 4, 5, 6], 2, 1).unwrap().bytes(), [1, 2, 3, 4, 5, 6]);
        for (width, height) in [(2, 2), (0, 0), (1, usize::MAX)] {
            assert!(pixels(&[0; 6], width, height).is_err(), "{width}x{height}");
        }
    }
}
