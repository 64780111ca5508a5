//! The part of a file that tells its format.

/// The bytes at the start of a file that [`Glance`] wants.
pub const HEAD: usize = 4 << 10;

/// The bytes at the end of a file that [`Glance`] wants: a zip archive lists its members there.
pub const TAIL: usize = 256 << 10;

/// The signature of an entry of a zip archive's central directory (APPNOTE.TXT 4.3.12).
const ENTRY: &[u8] = b"PK\x01\x02";

/// Where the length of the name and the name are in that entry.
const NAME_LENGTH: usize = 28;
const NAME: usize = 46;

/// The first and the last bytes of a file; the whole file twice where the file is small.
#[derive(Clone, Copy, Debug)]
pub struct Glance<'a> {
    /// Up to [`HEAD`] bytes.
    pub head: &'a [u8],
    /// Up to [`TAIL`] bytes.
    pub tail: &'a [u8],
}

impl<'a> Glance<'a> {
    /// The glance at a file that is in memory.
    pub fn of(file: &'a [u8]) -> Self {
        let head = file.get(..HEAD).unwrap_or(file);
        let tail = file.get(file.len().saturating_sub(TAIL)..).unwrap_or(file);
        Self { head, tail }
    }

    /// Whether the file starts with these bytes.
    pub(super) fn starts(&self, magic: &[u8]) -> bool {
        self.head.starts_with(magic)
    }

    /// Whether these bytes are at this place.
    pub(super) fn has_at(&self, offset: usize, magic: &[u8]) -> bool {
        self.head.get(offset..).is_some_and(|rest| rest.starts_with(magic))
    }

    /// Whether the file is a zip archive.
    pub(super) fn is_zip(&self) -> bool {
        self.starts(b"PK\x03\x04") || self.starts(b"PK\x05\x06")
    }

    /// Whether the file is a zip archive with such a member, by the name below the archive's root folder.
    pub(super) fn has_member(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        self.is_zip() && self.members().any(|name| is_wanted(name.split_once('/').map_or(name, |(_, below)| below)))
    }

    /// The names of the members whose entries lie in the tail.
    fn members(&self) -> impl Iterator<Item = &'a str> {
        let tail = self.tail;
        let starts = tail.windows(ENTRY.len()).enumerate().filter(|(_, window)| *window == ENTRY);
        starts.filter_map(move |(start, _)| {
            let entry = tail.get(start..)?;
            let length = entry.get(NAME_LENGTH..)?.first_chunk::<2>().map(|bytes| u16::from_le_bytes(*bytes))?;
            std::str::from_utf8(entry.get(NAME..NAME + usize::from(length))?).ok()
        })
    }

    /// The start of the file as text; `None` where the start is no UTF-8.
    pub(super) fn text(&self) -> Option<&'a str> {
        match std::str::from_utf8(self.head) {
            Ok(text) => Some(text),
            // The last character may be cut.
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(self.head.get(..error.valid_up_to())?).ok()
            }
            Err(_) => None,
        }
    }
}
