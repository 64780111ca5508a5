//! The mapping of a file of the store.

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// Maps a file of the store for reading.
#[allow(
    unsafe_code,
    reason = "a mapping is only sound for a file that nobody writes, which the type system cannot say"
)]
pub(super) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: files below the store's root are written to their end, then mapped or published by a rename, with mode
    // 0444, and never written again; replacing or removing a file leaves the mapped inode unchanged. Files that have a name
    // outside, too, are mapped as their owner's: the bytes of such a file may change, each value of a byte is valid, and
    // results count only if `Blob::is_as_opened` says that the file was not written to.
    unsafe { Mmap::map(file) }
}
