//! The zip container: members and their bytes.

use std::collections::HashMap;
use std::io::Cursor;
use std::ops::Range;

use zip::read::{ArchiveOffset, Config};
use zip::{CompressionMethod, ZipArchive};

use super::Bytes;
use crate::ImportError;

/// An archive whose members are used in place.
pub struct Archive {
    bytes: Bytes,
    /// Members by name below the root folder. Accessed by key only: iteration order is random.
    members: HashMap<String, Member>,
}

enum Member {
    Stored(Range<usize>),
    Compressed,
}

impl Archive {
    /// Reads the central directory and checks that the archive is an exported program.
    pub fn open(bytes: Bytes) -> Result<Self, ImportError> {
        let members = directory(bytes.bytes())?;
        let archive = Self { bytes, members };
        match archive.member("archive_format") {
            Ok(b"pt2") => Ok(archive),
            Ok(_) => Err(ImportError::NotPt2("member `archive_format` is not `pt2`".into())),
            Err(ImportError::MemberMissing(_)) => Err(ImportError::NotPt2("member `archive_format` is missing".into())),
            Err(error) => Err(error),
        }
    }

    /// The owner of the bytes of the weights.
    pub fn buffer(&self) -> &Bytes {
        &self.bytes
    }

    /// The contents of a member.
    pub fn member(&self, name: &str) -> Result<&[u8], ImportError> {
        let range = self.range(name)?;
        self.bytes.bytes().get(range).ok_or_else(|| ImportError::MemberMissing(name.to_owned()))
    }

    /// The byte range of a member.
    pub fn range(&self, name: &str) -> Result<Range<usize>, ImportError> {
        match self.members.get(name) {
            Some(Member::Stored(range)) => Ok(range.clone()),
            Some(Member::Compressed) => Err(ImportError::MemberCompressed(name.to_owned())),
            None => Err(ImportError::MemberMissing(name.to_owned())),
        }
    }
}

/// All members by name below the root folder. The name of the root folder is arbitrary.
fn directory(bytes: &[u8]) -> Result<HashMap<String, Member>, ImportError> {
    // Sample inputs are a zip archive inside the archive; skip the inner directory.
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let mut archive = ZipArchive::with_config(config, Cursor::new(bytes)).map_err(not_zip)?;
    let mut members = HashMap::new();
    for index in 0..archive.len() {
        let file = archive.by_index_raw(index).map_err(not_zip)?;
        let name = file.name().map_err(not_zip)?.into_owned();
        let member = match file.compression() {
            CompressionMethod::Stored => Member::Stored(contents(file.data_start(), file.size(), bytes.len(), &name)?),
            _ => Member::Compressed,
        };
        if let Some((_root, below)) = name.split_once('/') {
            members.insert(below.to_owned(), member);
        }
    }
    Ok(members)
}

fn contents(start: Option<u64>, size: u64, total: usize, name: &str) -> Result<Range<usize>, ImportError> {
    let start = start.and_then(|start| usize::try_from(start).ok());
    let end = start.zip(usize::try_from(size).ok()).and_then(|(start, size)| start.checked_add(size));
    match start.zip(end) {
        Some((start, end)) if end <= total => Ok(start..end),
        _ => Err(ImportError::NotZip(format!("member `{name}` reaches beyond the end of the file"))),
    }
}

fn not_zip(error: zip::result::ZipError) -> ImportError {
    ImportError::NotZip(error.to_string())
}
