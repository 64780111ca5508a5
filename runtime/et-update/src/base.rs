//! The deployed files beside what a delta says about old files.

use std::io::SeekFrom;

use blake3::Hasher;

use crate::disk::{Disk, ReadSeek};
use crate::place::Place;
use crate::rebuild::Bases;
use crate::{Error, Header, Version};

/// Opens the old files.
///
/// # Errors
/// [`Error::WrongBase`] for files that differ from the old files.
pub(crate) fn open(disk: &dyn Disk, place: &Place, header: &Header) -> Result<Bases, Error> {
    let open = |file: &crate::FileChange| {
        let name = name(place, &file.name);
        let path = place.live(name);
        let wrong = |problem| Error::WrongBase { file: name.to_owned(), problem };
        match (disk.open(&path).map_err(Error::at(&path))?, &file.before) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err(wrong("is missing")),
            (Some(_), None) => Err(wrong("is a file that the other version lacks")),
            (Some(mut bytes), Some(version)) => match is_version(&mut *bytes, version) {
                Ok(true) => Ok(Some(bytes)),
                Ok(false) => Err(wrong("has other bytes")),
                Err(source) => Err(Error::File { path, source }),
            },
        }
    };
    header.files.iter().map(open).collect()
}

/// Whether the deployed files are the new files.
pub(crate) fn is_installed(disk: &dyn Disk, place: &Place, header: &Header) -> bool {
    header.files.iter().all(|file| {
        let opened = disk.open(&place.live(name(place, &file.name))).ok().flatten();
        match (opened, &file.after) {
            (Some(mut bytes), Some(version)) => is_version(&mut *bytes, version).is_ok_and(|is_same| is_same),
            (opened, after) => opened.is_none() && after.is_none(),
        }
    })
}

/// The name of a file here.
pub(crate) fn name<'a>(place: &'a Place, name: &'a str) -> &'a str {
    place.single.as_deref().unwrap_or(name)
}

/// Whether a file has the size and the digest of a version.
pub(crate) fn is_version(file: &mut dyn ReadSeek, expected: &Version) -> std::io::Result<bool> {
    Ok(file.seek(SeekFrom::End(0))? == expected.size && version(file)? == *expected)
}

/// The size and the digest of a file.
pub(crate) fn version(file: &mut dyn ReadSeek) -> std::io::Result<Version> {
    file.rewind()?;
    let (mut size, mut hasher, mut buffer) = (0, Hasher::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Version { size, digest: hasher.finalize() }),
            count => {
                size += count as u64;
                hasher.update(buffer.get(..count).unwrap_or_default());
            }
        }
    }
}
