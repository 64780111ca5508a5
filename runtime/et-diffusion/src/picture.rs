//! A picture of bytes.

use crate::Error;

/// Encodes a picture as the bytes of a file: width, height, and three bytes per pixel, row by row.
pub type WritePicture = fn(width: usize, height: usize, pixels: &[u8]) -> Result<Vec<u8>, String>;

/// A picture in RGB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The width in pixels.
    pub width: usize,
    /// The height in pixels.
    pub height: usize,
    /// Three bytes per pixel, row by row.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// The picture of the numbers of a VAE decoder, `[1, 3, height, width]`, from -1 for black to 1 for white.
    ///
    /// # Errors
    /// [`Error::NotAPipeline`] for other sizes.
    pub fn of(sizes: &[usize], numbers: &[f32]) -> Result<Self, Error> {
        let [1, 3, height, width] = *sizes else {
            let problem = format!("the sizes of a decoded picture are {sizes:?}, not [1, 3, height, width]");
            return Err(Error::NotAPipeline(problem));
        };
        let plane = height * width;
        let mut pixels = vec![0; 3 * plane];
        for (channel, values) in numbers.chunks_exact(plane.max(1)).take(3).enumerate() {
            let slots = pixels.iter_mut().skip(channel).step_by(3);
            slots.zip(values).for_each(|(slot, value)| *slot = byte(*value));
        }
        Ok(Self { width, height, pixels })
    }
}

/// The byte of a number from -1 to 1, rounded as NumPy rounds.
fn byte(number: f32) -> u8 {
    ((number * 0.5 + 0.5).clamp(0.0, 1.0) * 255.0).round_ties_even() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_become_pixels() {
        let numbers = [-1.0, 1.0, 0.0, 3.0, -3.0, 0.2];
        let picture = Picture::of(&[1, 3, 1, 2], &numbers).unwrap();
        assert_eq!((picture.width, picture.height), (2, 1));
        assert_eq!(picture.pixels, [0, 128, 0, 255, 255, 153]);
        assert!(Picture::of(&[1, 4, 1, 2], &numbers).is_err());
    }
}
