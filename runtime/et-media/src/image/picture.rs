//! A picture in memory.

use et_module::preprocess::Color;
use et_signal::luma;

/// Rows of pixels, top row first, 8 bits per channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    width: usize,
    height: usize,
    channels: usize,
    bytes: Vec<u8>,
}

impl Picture {
    /// A picture of these bytes, `channels` for each pixel; `None` for another number of bytes, or without a pixel.
    pub fn new(width: usize, height: usize, channels: usize, bytes: Vec<u8>) -> Option<Self> {
        let fits = width.checked_mul(height).and_then(|pixels| pixels.checked_mul(channels)) == Some(bytes.len());
        (fits && !bytes.is_empty()).then_some(Self { width, height, channels, bytes })
    }

    /// A picture of red, green and blue.
    pub fn of_rgb(width: usize, height: usize, pixels: &[[u8; 3]]) -> Option<Self> {
        Self::new(width, height, 3, pixels.as_flattened().to_vec())
    }

    /// The pixels of a row, from left to right.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// The number of rows.
    pub const fn height(&self) -> usize {
        self.height
    }

    /// The values of a pixel.
    pub const fn channels(&self) -> usize {
        self.channels
    }

    /// The values, row by row.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The values, row by row.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The rows from the top.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, u8> {
        self.bytes.chunks_exact(self.width * self.channels)
    }

    /// A picture of red, green and blue with the channels of `color`.
    pub fn in_color(self, color: Color) -> Self {
        let pixels = self.bytes.as_chunks::<3>().0;
        let (channels, bytes) = match color {
            Color::Rgb => return self,
            Color::Bgr => (3, pixels.iter().flat_map(|[red, green, blue]| [*blue, *green, *red]).collect()),
            Color::Gray => (1, pixels.iter().map(|pixel| luma(*pixel)).collect()),
        };
        Self { channels, bytes, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_reordered_or_become_luma() {
        let picture = Picture::of_rgb(2, 1, &[[255, 0, 0], [10, 20, 30]]).unwrap();
        assert_eq!(picture.clone().in_color(Color::Bgr).bytes(), [0, 0, 255, 30, 20, 10]);
        let gray = picture.in_color(Color::Gray);
        assert_eq!((gray.channels(), gray.bytes()), (1, &[76, 18][..]));
        let grays: Vec<u8> = (0..=255).map(|value| luma([value; 3])).collect();
        assert_eq!(grays, (0..=255).collect::<Vec<u8>>());
    }

    #[test]
    fn a_picture_has_the_bytes_of_its_size() {
        assert_eq!(Picture::new(2, 2, 1, vec![0; 3]), None);
        assert_eq!(Picture::new(0, 2, 1, vec![]), None);
        assert_eq!(Picture::new(usize::MAX, 2, 3, vec![0]), None);
    }
}
