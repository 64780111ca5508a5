//! Pixels to files.

use png::{BitDepth, ColorType, Encoder, EncodingError};

/// The PNG file of a picture: three bytes per pixel, red, green and blue, row by row.
///
/// # Errors
/// A phrase about the picture: no pixels, or more or fewer bytes than pixels.
pub fn write_png(width: usize, height: usize, pixels: &[u8]) -> Result<Vec<u8>, String> {
    let size = |size: usize| u32::try_from(size).map_err(|_| format!("{size} pixels are too many for PNG"));
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, size(width)?, size(height)?);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let failed = |error: EncodingError| format!("the picture cannot be a PNG file: {error}");
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(pixels).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_pixels() {
        let pixels: Vec<u8> = (0..18).map(|value| value * 9).collect();
        let file = write_png(2, 3, &pixels).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut found = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut found).unwrap();
        assert_eq!((frame.width, frame.height, &found[..]), (2, 3, &pixels[..]));
    }

    #[test]
    fn bytes_that_are_no_picture_are_refused() {
        assert!(write_png(0, 3, &[]).is_err());
        assert!(write_png(2, 3, &[0; 17]).is_err());
    }
}
