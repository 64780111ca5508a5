//! A file's bytes: mapped where that pays and the system can, read otherwise, or part of the binary.

#[cfg(all(any(unix, windows), target_pointer_width = "64"))]
mod mapping;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::ops::{Deref, Range};
use std::path::Path;
use std::rc::Rc;

use crate::Error;

/// Bytes at a fixed address until the owner is dropped.
pub struct FileBytes(Source);

enum Source {
    Static(&'static [u8]),
    Owned(Box<dyn AsRef<[u8]> + Send + Sync>),
    Shared(Rc<FileBytes>),
    Part(Box<FileBytes>, Range<usize>),
    #[cfg(all(any(unix, windows), target_pointer_width = "64"))]
    Mapped(mapping::Mapping),
}

/// Bytes of the largest file that is read though it could be mapped: to set up a mapping, and to fault its pages in, takes
/// longer than to copy so few.
#[cfg(any(test, all(any(unix, windows), target_pointer_width = "64")))]
const READ_AT_MOST: u64 = 1 << 16;

impl FileBytes {
    /// Backends use weights in place, which begin at multiples of this many bytes.
    pub const ALIGNMENT: usize = 64;

    /// Maps a file, or reads a file that is small or cannot be mapped.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_file(path).map_err(|source| Error::File { path: path.to_owned(), source })
    }

    fn open_file(path: &Path) -> io::Result<Self> {
        refuse_endless(path)?;
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        #[cfg(all(any(unix, windows), target_pointer_width = "64"))]
        if size > READ_AT_MOST
            && let Some(mapping) = mapping::Mapping::new(&file, size)
        {
            return Ok(Self(Source::Mapped(mapping)));
        }
        if size > 0 {
            return Aligned::read(file, size).map(Self::owned);
        }
        // Files that a system makes as they are read do not say how long they are.
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Self::copied(&bytes))
    }

    /// A page-aligned copy of bytes: backends use weights in place, and need aligned weights.
    pub fn copied(bytes: &[u8]) -> Self {
        Self::owned(Aligned::new(bytes))
    }

    /// Bytes that are in memory already.
    pub fn owned(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self(Source::Owned(Box::new(bytes)))
    }

    /// The same bytes for another method: methods of a program share a mapping.
    pub fn shared(bytes: &Rc<Self>) -> Self {
        Self(Source::Shared(Rc::clone(bytes)))
    }

    /// The bytes of `range`; none where the range exceeds the file.
    #[must_use]
    pub fn part(self, range: Range<usize>) -> Self {
        Self(Source::Part(Box::new(self), range))
    }

    /// Takes bytes at these addresses out of the process's memory where they are pages of a mapped file, and nothing otherwise. Their
    /// content stays: the next read brings them back.
    pub(crate) fn release(&self, addresses: Range<usize>) {
        match &self.0 {
            Source::Shared(bytes) => bytes.release(addresses),
            Source::Part(bytes, _) => bytes.release(addresses),
            #[cfg(all(any(unix, windows), target_pointer_width = "64"))]
            Source::Mapped(mapping) => mapping.release(addresses),
            Source::Static(_) | Source::Owned(_) => {}
        }
    }

    /// Bytes that are part of the binary.
    pub const fn embedded(bytes: &'static [u8]) -> Self {
        Self(Source::Static(bytes))
    }
}

/// Devices, pipes and sockets may never end, or wait for ever; a folder has no bytes.
fn refuse_endless(path: &Path) -> io::Result<()> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_file() {
        return Ok(());
    }
    let what = if kind.is_dir() { "a folder, not a file" } else { "a device, pipe or socket, not a regular file" };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// Bytes that begin at a multiple of [`Aligned::TO`].
struct Aligned {
    bytes: Vec<u8>,
    start: usize,
}

impl Aligned {
    const TO: usize = FileBytes::ALIGNMENT;

    fn new(content: &[u8]) -> Self {
        let mut copy = Self::with_room(content.len());
        copy.bytes.extend_from_slice(content);
        copy
    }

    /// No bytes yet, and room for `size`.
    fn with_room(size: usize) -> Self {
        let mut bytes: Vec<u8> = Vec::with_capacity(size + Self::TO);
        let start = bytes.as_ptr().align_offset(Self::TO).min(Self::TO);
        bytes.resize(start, 0);
        Self { bytes, start }
    }

    /// The first `size` bytes of `file`.
    fn read(file: File, size: u64) -> io::Result<Self> {
        let mut content = Self::with_room(usize::try_from(size).unwrap_or(0));
        file.take(size).read_to_end(&mut content.bytes)?;
        Ok(content)
    }
}

impl AsRef<[u8]> for Aligned {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }
}

impl fmt::Debug for FileBytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} bytes", self.len())
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Source::Static(bytes) => bytes,
            Source::Owned(bytes) => (**bytes).as_ref(),
            Source::Shared(bytes) => bytes,
            Source::Part(bytes, range) => bytes.get(range.clone()).unwrap_or_default(),
            #[cfg(all(any(unix, windows), target_pointer_width = "64"))]
            Source::Mapped(mapping) => mapping.bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_or_mapped_by_its_size() {
        let path = std::env::temp_dir().join(format!("et-module-map-{}", std::process::id()));
        for size in [7, READ_AT_MOST as usize, READ_AT_MOST as usize + 1] {
            let content: Vec<u8> = (0..size).map(|index| index as u8).collect();
            std::fs::write(&path, &content).unwrap();
            let bytes = FileBytes::open(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            assert_eq!((bytes[..] == content, bytes.as_ptr().addr() % 64), (true, 0), "{size}");
        }
    }

    #[test]
    fn a_copy_is_aligned() {
        let copy = FileBytes::copied(b"content");
        assert_eq!((&copy[..], copy.as_ptr().addr() % 64), (&b"content"[..], 0));
    }

    #[test]
    fn an_empty_file_is_empty_and_a_missing_one_an_error() {
        let path = std::env::temp_dir().join(format!("et-module-empty-{}", std::process::id()));
        std::fs::write(&path, b"").unwrap();
        assert!(FileBytes::open(&path).unwrap().is_empty());
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(FileBytes::open(&path), Err(Error::File { .. })));
    }
}
