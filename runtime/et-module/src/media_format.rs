//! The formats of pictures and recordings.

use crate::preprocess::Preprocess;

/// A format of pictures or recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaFormat {
    /// Portable Network Graphics.
    Png,
    /// JPEG.
    Jpeg,
    /// RIFF WAVE.
    Wav,
}

impl MediaFormat {
    /// The format of a file, by its first bytes.
    pub fn of(file: &[u8]) -> Option<Self> {
        match file {
            [0x89, b'P', b'N', b'G', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => Some(Self::Wav),
            _ => None,
        }
    }

    /// The name with an article.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Png => "a PNG picture",
            Self::Jpeg => "a JPEG picture",
            Self::Wav => "a WAV recording",
        }
    }

    /// The key of the recipe that states the steps for such a file.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Png | Self::Jpeg => "image",
            Self::Wav => "audio",
        }
    }

    /// Whether the steps are for files of this format.
    pub(crate) const fn takes(self, steps: &Preprocess) -> bool {
        match self {
            Self::Png | Self::Jpeg => matches!(steps, Preprocess::Image(_)),
            Self::Wav => matches!(steps, Preprocess::Audio(_)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_known_by_the_first_bytes() {
        assert_eq!(MediaFormat::of(b"\x89PNG\r\n\x1a\n"), Some(MediaFormat::Png));
        assert_eq!(MediaFormat::of(b"\xff\xd8\xff\xe0"), Some(MediaFormat::Jpeg));
        assert_eq!(MediaFormat::of(b"RIFF\x24\0\0\0WAVEfmt "), Some(MediaFormat::Wav));
        assert_eq!(MediaFormat::of(b"RIFF\x24\0\0\0AVI "), None);
        assert_eq!(MediaFormat::of(b""), None);
    }
}
