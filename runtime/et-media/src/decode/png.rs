//! PNG, through `png`.

use std::io::Cursor;

use png::{ColorType, Decoder, DecodingError, Limits, Transformations};

use super::{MOST_PIXELS, checked};
use crate::image::Picture;

/// What becomes of transparency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transparency {
    /// Pixels have their colors, as `Image.convert("RGB")` of Pillow leaves them.
    LeftOut,
    /// The picture lies on white, as the image processors of transformers see it, with the rounding of Pillow's `alpha_composite`.
    OnWhite,
}

impl Transparency {
    /// A channel of a pixel with this opacity.
    fn apply(self, value: u8, opacity: u8) -> u8 {
        let opacity = u32::from(opacity);
        match self {
            Self::LeftOut => value,
            Self::OnWhite => ((u32::from(value) * opacity + 255 * (255 - opacity) + 127) / 255) as u8,
        }
    }
}

/// Decodes the picture; of 16-bit channels the upper half.
pub fn decode(file: &[u8], transparency: Transparency) -> Result<Picture, String> {
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
        ColorType::GrayscaleAlpha => {
            bytes.as_chunks().0.iter().map(|[value, opacity]| gray(transparency.apply(*value, *opacity))).collect()
        }
        ColorType::Rgb => bytes.as_chunks().0.to_vec(),
        ColorType::Rgba => {
            let colors = |[red, green, blue, opacity]: &[u8; 4]| {
                [*red, *green, *blue].map(|value| transparency.apply(value, *opacity))
            };
            bytes.as_chunks().0.iter().map(colors).collect()
        }
    };
    Picture::of_rgb(width, height, &pixels).ok_or_else(|| "fewer pixels than the header states".to_owned())
}

fn damaged(error: DecodingError) -> String {
    match error {
        DecodingError::IoError(_) => "the file ends too early: is it complete?".to_owned(),
        other => format!("damaged: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(color: ColorType, width: u32, bytes: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, 1);
        encoder.set_color(color);
        encoder.write_header().unwrap().write_image_data(bytes).unwrap();
        file
    }

    /// The numbers of Pillow's `alpha_composite` on white.
    #[test]
    fn transparency_is_left_out_or_lies_on_white() {
        let colors = file(ColorType::Rgba, 3, &[10, 20, 250, 255, 10, 20, 250, 100, 10, 20, 250, 0]);
        let left_out = decode(&colors, Transparency::LeftOut).unwrap();
        assert_eq!(left_out.bytes(), [10, 20, 250].repeat(3));
        let on_white = decode(&colors, Transparency::OnWhite).unwrap();
        assert_eq!(on_white.bytes(), [10, 20, 250, 159, 163, 253, 255, 255, 255]);
        let grays = file(ColorType::GrayscaleAlpha, 2, &[7, 1, 7, 254]);
        assert_eq!(decode(&grays, Transparency::OnWhite).unwrap().bytes(), [254, 254, 254, 8, 8, 8]);
    }
}
