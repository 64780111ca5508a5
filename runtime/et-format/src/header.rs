//! The extended header: how long the flatbuffer is and where the segments start.

use et_core::{Error, Result};

/// Bytes 4 to 7 of every program file.
pub const IDENTIFIER: &[u8; 4] = b"ET12";

/// The extended header, which stands in bytes 8 to 39 of a file with segments (`schema/extended_header.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtendedHeader {
    /// The size of the flatbuffer in bytes, including this header and excluding the padding behind the flatbuffer.
    pub program_size: u64,
    /// Where the first segment starts in the file.
    pub segment_base_offset: u64,
    /// Bytes from there to the end of the last segment; files from before 1.0 do not say.
    pub segment_data_size: Option<u64>,
}

impl ExtendedHeader {
    /// The magic bytes.
    pub(crate) const MAGIC: &[u8; 4] = b"eh00";
    /// The length that is written today.
    pub(crate) const LENGTH: u32 = 32;
    /// The length without the size of the segments.
    const SHORT_LENGTH: u32 = 24;

    /// Reads the header of a file; `None` for a file without a header.
    pub fn read(file: &[u8]) -> Result<Option<Self>> {
        let header = file.get(8..).unwrap_or_default();
        if !header.starts_with(Self::MAGIC) {
            return Ok(None);
        }
        let length = number(header, 4)? as u32;
        if length < Self::SHORT_LENGTH {
            return Err(Error::InvalidProgram);
        }
        let segment_data_size = if length >= Self::LENGTH { Some(number(header, 24)?) } else { None };
        Ok(Some(Self { program_size: number(header, 8)?, segment_base_offset: number(header, 16)?, segment_data_size }))
    }
}

fn number(header: &[u8], position: usize) -> Result<u64> {
    let bytes = header.get(position..).and_then(|rest| rest.first_chunk().copied());
    bytes.map(u64::from_le_bytes).ok_or(Error::InvalidProgram)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_header_has_none() {
        assert_eq!(ExtendedHeader::read(b"\x20\0\0\0ET12"), Ok(None));
    }

    #[test]
    fn a_short_header_has_no_segment_size() {
        let mut file = [0; 40];
        file[8..12].copy_from_slice(b"eh00");
        file[12] = 24;
        file[24] = 64;
        let header = ExtendedHeader { program_size: 0, segment_base_offset: 64, segment_data_size: None };
        assert_eq!(ExtendedHeader::read(&file), Ok(Some(header)));
        file[12] = 23;
        assert_eq!(ExtendedHeader::read(&file), Err(Error::InvalidProgram));
    }
}
