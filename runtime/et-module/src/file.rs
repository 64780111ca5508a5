//! A file's bytes: mapped where the system can, read otherwise, or part of the binary.
#![allow(unsafe_code)] // Calls the system's mmap, and reads what it maps.

use std::fmt;
use std::fs::File;
use std::ops::Deref;
use std::path::Path;

use crate::Error;

/// Bytes that stay where they are until they are dropped.
pub struct FileBytes(Source);

enum Source {
    Static(&'static [u8]),
    Owned(Box<dyn AsRef<[u8]> + Send + Sync>),
    #[cfg(all(unix, target_pointer_width = "64"))]
    Mapped(mapped::Mapping),
}

impl FileBytes {
    /// Maps a file, or reads it where that is not possible.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::File { path: path.to_owned(), source };
        #[cfg(all(unix, target_pointer_width = "64"))]
        if let Some(mapping) = mapped::Mapping::new(&File::open(path).map_err(failed)?) {
            return Ok(Self(Source::Mapped(mapping)));
        }
        std::fs::read(path).map(|bytes| Self::copied(&bytes)).map_err(failed)
    }

    /// A copy of bytes that begins where a mapping could: engines use weights in place, and want them aligned.
    pub fn copied(bytes: &[u8]) -> Self {
        Self::owned(Aligned::new(bytes))
    }

    /// Bytes that are in memory already.
    pub fn owned(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self(Source::Owned(Box::new(bytes)))
    }

    /// Bytes that are part of the binary.
    pub const fn embedded(bytes: &'static [u8]) -> Self {
        Self(Source::Static(bytes))
    }
}

/// Bytes that begin at a multiple of [`Aligned::TO`].
struct Aligned {
    bytes: Vec<u8>,
    start: usize,
}

impl Aligned {
    const TO: usize = 64;

    fn new(content: &[u8]) -> Self {
        let mut bytes: Vec<u8> = Vec::with_capacity(content.len() + Self::TO);
        let start = bytes.as_ptr().align_offset(Self::TO).min(Self::TO);
        bytes.resize(start, 0);
        bytes.extend_from_slice(content);
        Self { bytes, start }
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
            #[cfg(all(unix, target_pointer_width = "64"))]
            Source::Mapped(mapping) => mapping.bytes(),
        }
    }
}

#[cfg(all(unix, target_pointer_width = "64"))]
mod mapped {
    use std::ffi::{c_int, c_void};
    use std::fs::File;
    use std::os::fd::AsRawFd;

    const PROT_READ: c_int = 1;
    const MAP_PRIVATE: c_int = 2;

    unsafe extern "C" {
        fn mmap(
            address: *mut c_void,
            length: usize,
            protection: c_int,
            flags: c_int,
            descriptor: c_int,
            offset: i64,
        ) -> *mut c_void;
        fn munmap(address: *mut c_void, length: usize) -> c_int;
    }

    /// A file in the address space, private and read-only.
    #[derive(Debug)]
    pub(super) struct Mapping {
        start: *mut c_void,
        length: usize,
    }

    impl Mapping {
        /// Maps a file; `None` where the system refuses, as it does for an empty file or a pipe.
        pub(super) fn new(file: &File) -> Option<Self> {
            let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
            // SAFETY: asks for a new mapping at an address of the system's choice, which touches no other memory.
            let start = unsafe { mmap(std::ptr::null_mut(), length, PROT_READ, MAP_PRIVATE, file.as_raw_fd(), 0) };
            (start.addr() != usize::MAX).then_some(Self { start, length })
        }

        pub(super) const fn bytes(&self) -> &[u8] {
            // SAFETY: the mapping covers these bytes until it is dropped. Program files are replaced, not rewritten, so
            // they do not change meanwhile; every reader of them checks what it reads.
            unsafe { std::slice::from_raw_parts(self.start.cast(), self.length) }
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: the mapping is this one's own, and its bytes are no longer borrowed.
            unsafe { munmap(self.start, self.length) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_mapped() {
        let path = std::env::temp_dir().join(format!("et-module-map-{}", std::process::id()));
        std::fs::write(&path, b"content").unwrap();
        let bytes = FileBytes::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(&bytes[..], b"content");
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
