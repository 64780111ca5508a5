//! The header of a delta, and its bytes. Numbers are little-endian.
//!
//! | field | bytes |
//! |---|---|
//! | name | length (1), UTF-8 |
//! | number of files | 4 |
//! | per file: name | length (1), UTF-8 |
//! | executable, old bytes, new bytes | flags (1 each); behind each present version: size (8), digest (32) |
//! | number of pieces | 4 |
//! | per piece | stored (4), size (4), digest (32) |

use std::collections::BTreeSet;

use crate::Error;
use crate::change::{FileChange, Piece, Version};
use crate::limits::{FILES_MOST, HEADER_MOST, PIECE_SIZE, STORED_MOST};
use crate::place::is_file_name;
use crate::reader::Reader;

/// What a delta changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The name of the deployed binary or program file, without its ending.
    pub name: String,
    /// The files, sorted by name. Operations refer to old files by position in this list.
    pub files: Vec<FileChange>,
}

impl Header {
    /// The bytes. Equal headers have equal bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a header that [`Header::decode`] would refuse.
    pub fn encode(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        put_text(&mut bytes, &self.name);
        put_count(&mut bytes, self.files.len());
        for file in &self.files {
            put_text(&mut bytes, &file.name);
            bytes.push(file.executable.into());
            for version in [&file.before, &file.after] {
                bytes.push(version.is_some().into());
                version.iter().for_each(|version| put_version(&mut bytes, version));
            }
            put_count(&mut bytes, file.pieces.len());
            for piece in &file.pieces {
                put_piece(&mut bytes, piece);
            }
        }
        let bytes = bounded(bytes)?;
        Self::decode(&bytes).map(|_| bytes)
    }

    /// Reads and checks the bytes of a header.
    ///
    /// # Errors
    /// [`Error::Malformed`] for other bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader(bytes);
        let name = file_name(&mut reader)?;
        let count = reader.word()? as usize;
        if count > FILES_MOST {
            return Err(Error::Malformed("more than 1024 files"));
        }
        let files = (0..count).map(|_| file(&mut reader)).collect::<Result<Vec<_>, _>>()?;
        reader.end()?;
        check_names(files.iter().map(|file| file.name.as_str()))?;
        Ok(Self { name, files })
    }

    /// The stored bytes of all pieces, which follow the header.
    pub fn body_size(&self) -> u64 {
        self.files.iter().flat_map(|file| &file.pieces).map(|piece| u64::from(piece.stored)).sum()
    }
}

fn file(reader: &mut Reader<'_>) -> Result<FileChange, Error> {
    let name = file_name(reader)?;
    let executable = reader.flag()?;
    let (before, after) = (version(reader)?, version(reader)?);
    let pieces = reader.list(piece)?;
    let file = FileChange { name, executable, before, after, pieces };
    if file.before.is_none() && file.after.is_none() {
        return Err(Error::Malformed("a file is in neither version"));
    }
    if !file.pieces.is_empty() && (file.after.is_none() || file.is_same()) {
        return Err(Error::Malformed("an unchanged or removed file has pieces"));
    }
    Ok(file)
}

/// Checks that names are sorted and name different files everywhere.
pub(crate) fn check_names<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Result<(), Error> {
    if !names.clone().is_sorted_by(|left, right| left < right) {
        return Err(Error::Malformed("the names are not sorted"));
    }
    // A file system may take names for equal that differ in case only.
    let folded: BTreeSet<String> = names.clone().map(str::to_lowercase).collect();
    if folded.len() != names.count() {
        return Err(Error::Malformed("two names differ in case only"));
    }
    Ok(())
}

pub(crate) fn file_name(reader: &mut Reader<'_>) -> Result<String, Error> {
    let name = reader.text()?;
    if is_file_name(name) {
        Ok(name.to_owned())
    } else {
        Err(Error::Malformed("a name is not that of a file in a folder"))
    }
}

fn version(reader: &mut Reader<'_>) -> Result<Option<Version>, Error> {
    if reader.flag()? { reader.version().map(Some) } else { Ok(None) }
}

pub(crate) fn piece(reader: &mut Reader<'_>) -> Result<Piece, Error> {
    let piece = Piece { stored: reader.word()?, size: reader.word()?, digest: reader.hash()? };
    let fits = piece.stored as usize <= STORED_MOST && piece.size as usize <= PIECE_SIZE && piece.stored <= piece.size;
    if fits { Ok(piece) } else { Err(Error::Malformed("a piece is larger than 1 MiB")) }
}

pub(crate) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    // A longer name does not decode.
    bytes.push(u8::try_from(text.len()).unwrap_or(0));
    bytes.extend(text.as_bytes());
}

pub(crate) fn put_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

pub(crate) fn put_piece(bytes: &mut Vec<u8>, piece: &Piece) {
    bytes.extend(piece.stored.to_le_bytes());
    bytes.extend(piece.size.to_le_bytes());
    bytes.extend(piece.digest.as_bytes());
}

pub(crate) fn put_version(bytes: &mut Vec<u8>, version: &Version) {
    bytes.extend(version.size.to_le_bytes());
    bytes.extend(version.digest.as_bytes());
}

/// The bytes of a header of a size that readers take.
pub(crate) fn bounded(bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
    let fits = bytes.len() <= HEADER_MOST;
    if fits { Ok(bytes) } else { Err(Error::Malformed("the header is longer than 16 MiB")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        let version = |text: &[u8]| Some(Version { size: text.len() as u64, digest: blake3::hash(text) });
        let piece = Piece { stored: 3, size: 5, digest: blake3::hash(b"abc") };
        let change = FileChange {
            name: "m.pte".into(),
            executable: false,
            before: version(b"a"),
            after: version(b"b"),
            pieces: vec![piece],
        };
        let added = FileChange { name: "m.ptd".into(), before: None, ..change.clone() };
        let removed = FileChange { name: "m".into(), after: None, pieces: Vec::new(), ..change.clone() };
        Header { name: "m".into(), files: vec![removed, added, change] }
    }

    #[test]
    fn a_header_is_what_its_bytes_say() {
        let bytes = header().encode().unwrap();
        assert_eq!(Header::decode(&bytes).unwrap(), header());
        assert_eq!(header().body_size(), 6);
    }

    #[test]
    fn a_shortened_or_lengthened_header_is_refused() {
        let bytes = header().encode().unwrap();
        for length in 0..bytes.len() {
            assert!(Header::decode(&bytes[..length]).is_err(), "{length}");
        }
        assert!(Header::decode(&[bytes, vec![0]].concat()).is_err());
    }

    #[test]
    fn names_outside_the_folder_are_refused() {
        for name in ["../m", "a/b", "", ".m", "a\\b", "c:x", "a\0"] {
            let mut header = header();
            header.files.truncate(1);
            header.files[0].name = name.into();
            assert!(header.encode().is_err(), "{name:?}");
        }
    }

    #[test]
    fn unsorted_files_and_names_that_differ_in_case_are_refused() {
        let mut unsorted = header();
        unsorted.files.reverse();
        assert!(unsorted.encode().is_err());
        let mut equal = header();
        equal.files[0].name = "M.ptd".into();
        assert!(equal.encode().is_err());
    }
}
