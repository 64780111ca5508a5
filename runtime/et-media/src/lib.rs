//! Pictures and recordings as inputs of models, and pictures as outputs.
//!
//! [`read`] decodes a PNG, JPEG or WAV file and follows the steps that a program file states for an input
//! ([`et_module::preprocess`]). Resizing gives the bytes of Pillow, cropping and normalization the numbers of torchvision, resampling
//! those of torchaudio. [`tiles`] makes the tiles that a vision encoder reads. [`write_png`] encodes a picture. Decoders and encoders are third-party crates, so a generated project has this crate
//! only if its program states such steps or makes pictures.

mod audio;
mod decode;
mod encode;
mod image;
mod numbers;
mod wanted;

use decode::Transparency;
pub use encode::write_png;
use et_module::preprocess::{Media, Preprocess, TileSteps, Tiles};
use et_module::{Array, MediaFormat, TensorType};

/// The tensor that a file becomes by `steps`, for an input of type `wanted`; an [`et_module::ReadMedia`].
///
/// # Errors
/// A phrase about the file: a damaged file, a format that the steps are not for, or a result that does not fit `wanted`.
pub fn read(file: &[u8], steps: &Preprocess, wanted: &TensorType) -> Result<Array, String> {
    match (MediaFormat::of(file), steps) {
        (Some(MediaFormat::Png), Preprocess::Image(steps)) => {
            image::tensor(decode::png(file, Transparency::LeftOut)?, steps, wanted)
        }
        (Some(MediaFormat::Jpeg), Preprocess::Image(steps)) => image::tensor(decode::jpeg(file)?, steps, wanted),
        (Some(MediaFormat::Wav), Preprocess::Audio(steps)) => audio::tensor(&decode::wav(file)?, *steps, wanted),
        (Some(format), _) => Err(format!("{} does not fit the preprocessing of the input", format.name())),
        (None, _) => Err("neither PNG, JPEG nor WAV".to_owned()),
    }
}

/// The samples of a recording at a rate in hertz, the channels mixed to one; an [`et_module::preprocess::ReadSound`].
///
/// # Errors
/// A phrase about the recording: a damaged file, a file that is no recording, samples that are no numbers, or a rate that cannot be
/// converted.
pub fn sound(recording: Media<'_>, rate: u32) -> Result<Vec<f32>, String> {
    let file = match recording {
        Media::File(file) => file,
        Media::Samples { samples, rate: own } => return audio::samples(&decode::samples(samples, own)?, rate),
        Media::Pixels { .. } => return Err("pixels are no recording".to_owned()),
    };
    match MediaFormat::of(file) {
        Some(MediaFormat::Wav) => audio::samples(&decode::wav(file)?, rate),
        Some(format) => Err(format!("{} is no recording", format.name())),
        None => Err("not a WAV file".to_owned()),
    }
}

/// The tiles of a picture by `steps`; an [`et_module::preprocess::ReadTiles`].
///
/// # Errors
/// A phrase about the picture: a damaged file, a file that is no picture, or another number of bytes than the pixels have.
pub fn tiles(picture: Media<'_>, steps: &TileSteps) -> Result<Tiles, String> {
    let file = match picture {
        Media::File(file) => file,
        Media::Pixels { bytes, width, height } => return image::tiles(decode::pixels(bytes, width, height)?, steps),
        Media::Samples { .. } => return Err("samples are no picture".to_owned()),
    };
    match MediaFormat::of(file) {
        Some(MediaFormat::Png) => image::tiles(decode::png(file, Transparency::OnWhite)?, steps),
        Some(MediaFormat::Jpeg) => image::tiles(decode::jpeg(file)?, steps),
        Some(format) => Err(format!("{} is no picture", format.name())),
        None => Err("neither PNG nor JPEG".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_a_recording_and_no_picture() {
        let media = Media::Samples { samples: &[0.5, -0.25], rate: 8 };
        assert_eq!(sound(media, 8), Ok(vec![0.5, -0.25]));
        assert!(sound(Media::Pixels { bytes: &[0; 3], width: 1, height: 1 }, 8).is_err());
        for (samples, rate, word) in [(&[f32::NAN][..], 8, "NaN"), (&[0.0][..], 0, "rate")] {
            let refused = sound(Media::Samples { samples, rate }, 8).unwrap_err();
            assert!(refused.contains(word), "{refused}");
        }
    }
}
