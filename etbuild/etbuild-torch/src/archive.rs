//! The zip container: members, used where they lie.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::ops::Range;

use zip::read::{ArchiveOffset, Config};
use zip::{CompressionMethod, ZipArchive};

use crate::TorchError;

/// A member of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    /// Bytes of the file.
    Stored(Range<usize>),
    /// Compressed bytes.
    Compressed,
}

impl Member {
    /// Where the bytes lie.
    ///
    /// # Errors
    /// Compressed bytes.
    pub fn range(&self, name: &str) -> Result<Range<usize>, TorchError> {
        match self {
            Self::Stored(range) => Ok(range.clone()),
            Self::Compressed => Err(TorchError::MemberCompressed(name.to_owned())),
        }
    }
}

/// All members by name below the root folder. The name of the root folder is arbitrary.
///
/// # Errors
/// No zip container; a member that reaches beyond the end of the file.
pub fn members(bytes: &[u8]) -> Result<BTreeMap<String, Member>, TorchError> {
    // Containers may have containers as members; the directory is the outer one's.
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let mut archive = ZipArchive::with_config(config, Cursor::new(bytes)).map_err(not_zip)?;
    let mut members = BTreeMap::new();
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

fn contents(start: Option<u64>, size: u64, total: usize, name: &str) -> Result<Range<usize>, TorchError> {
    let start = start.and_then(|start| usize::try_from(start).ok());
    let end = start.zip(usize::try_from(size).ok()).and_then(|(start, size)| start.checked_add(size));
    match start.zip(end) {
        Some((start, end)) if end <= total => Ok(start..end),
        _ => Err(TorchError::NotZip(format!("member `{name}` reaches beyond the end of the file"))),
    }
}

fn not_zip(error: zip::result::ZipError) -> TorchError {
    TorchError::NotZip(error.to_string())
}
