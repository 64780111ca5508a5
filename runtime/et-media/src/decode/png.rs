//! PNG, through `png`.

use std::io::Cursor;

use png::{ColorType, Decoder, DecodingError, Limits, Transformations};

use super::{MOST_PIXELS, checked};
use crate::image::Picture;

/// Decodes the picture, without transparency; of 16-bit channels the upper half.
pub fn decode(file: &[u8]) -> Result<Picture, String> {
    let mut decoder = Decoder::new_with_limits(Cursor::new(file), Limits { bytes: 8 * MOST_PIXELS });
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(damaged)?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    checked(width, height)?;
    let size = reader.output_buffer_size().ok_or("too large")?;
    let mut bytes = vec![0; size];
    let frame = reader.next_frame(&mut bytes).map_err(damaged)?;
    let bytes = bytes.get(..frame.buffer_size()).unwrap_or_default();
    let gray = |value: u8| [value; 3];
    let pixels: Vec<[u8; 3]> = match frame.color_type {
        ColorType::Grayscale | ColorType::Indexed => bytes.iter().map(|value| gray(*value)).collect(),
        ColorType::GrayscaleAlpha => bytes.as_chunks().0.iter().map(|[value, _]| gray(*value)).collect(),
        ColorType::Rgb => bytes.as_chunks().0.to_vec(),
        ColorType::Rgba => bytes.as_chunks().0.iter().map(|[red, green, blue, _]| [*red, *green, *blue]).collect(),
    };
    Picture::of_rgb(width, height, &pixels).ok_or_else(|| "fewer pixels than the header states".to_owned())
}

fn damaged(error: DecodingError) -> String {
    match error {
        DecodingError::IoError(_) => "the file ends too early: is it complete?".to_owned(),
        other => format!("damaged: {other}"),
    }
}
