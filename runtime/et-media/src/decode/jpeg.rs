//! JPEG, through `zune-jpeg`.

use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;

use super::checked;
use crate::image::Picture;

/// Decodes the picture as it is stored, whatever orientation its metadata states.
pub fn decode(file: &[u8]) -> Result<Picture, String> {
    // Without instructions of one machine, pixels are the same on all machines. A cut file is an error.
    let options = DecoderOptions::default()
        .jpeg_set_out_colorspace(ColorSpace::RGB)
        .set_max_width(usize::from(u16::MAX))
        .set_max_height(usize::from(u16::MAX))
        .set_strict_mode(true);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(file), options);
    decoder.decode_headers().map_err(|error| damaged(&error))?;
    let info = decoder.info().ok_or("damaged: no frame")?;
    let (width, height) = (usize::from(info.width), usize::from(info.height));
    checked(width, height)?;
    let bytes = decoder.decode().map_err(|error| damaged(&error))?;
    let pixels = match decoder.output_colorspace() {
        Some(ColorSpace::RGB) => bytes.as_chunks().0.to_vec(),
        Some(ColorSpace::Luma) => bytes.iter().map(|value| [*value; 3]).collect(),
        other => return Err(format!("colors {other:?} are not supported; save the picture as RGB")),
    };
    Picture::of_rgb(width, height, &pixels).ok_or_else(|| "fewer pixels than the header states".to_owned())
}

fn damaged(error: &DecodeErrors) -> String {
    match error {
        DecodeErrors::ExhaustedData | DecodeErrors::IoErrors(_) => {
            "the file ends too early: is it complete?".to_owned()
        }
        other => format!("damaged: {other:?}"),
    }
}
