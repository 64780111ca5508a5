//! Files in the address space, read-only.
#![allow(unsafe_code)] // Calls the system's functions for mappings, and reads what they map.

use std::ffi::c_void;
use std::fs::File;
use std::ops::Range;

/// Starts and lengths of pages are multiples of this on every system.
const PAGES: usize = 1 << 16;

/// A file in the address space, private and read-only.
#[derive(Debug)]
pub(super) struct Mapping {
    start: *mut c_void,
    length: usize,
}

impl Mapping {
    /// Maps a file; `None` where the system refuses, such as for an empty file or a pipe.
    pub(super) fn new(file: &File, size: u64) -> Option<Self> {
        let length = usize::try_from(size).ok()?;
        system::map(file, length).map(|start| Self { start, length })
    }

    pub(super) const fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping covers these bytes until the owner is dropped. Program files are replaced, not rewritten, so
        // the bytes do not change meanwhile; every reader of the bytes checks the values.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.length) }
    }

    /// Takes the whole pages of a range of addresses out of the process's memory; the next read faults them in again.
    pub(super) fn release(&self, range: Range<usize>) {
        let first = range.start.max(self.start.addr()).next_multiple_of(PAGES);
        let end = range.end.min(self.start.addr() + self.length) / PAGES * PAGES;
        if first < end {
            // SAFETY: the pages are within the mapping, which is private and never written: reads find the bytes of the file before
            // and after.
            unsafe { system::release(self.start.with_addr(first), end - first) };
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, and no borrow of the bytes is left.
        unsafe { system::unmap(self.start, self.length) };
    }
}

#[cfg(unix)]
mod system {
    use std::ffi::{c_int, c_void};
    use std::fs::File;
    use std::os::fd::AsRawFd;
    use std::ptr::null_mut;

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
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }

    const MADV_DONTNEED: c_int = 4;

    /// # Safety
    /// `start` and `length` are pages of a private mapping of a file that is never written.
    pub(super) unsafe fn release(start: *mut c_void, length: usize) {
        // SAFETY: as the caller promises. A system that refuses keeps the pages.
        unsafe { madvise(start, length, MADV_DONTNEED) };
    }

    pub(super) fn map(file: &File, length: usize) -> Option<*mut c_void> {
        // SAFETY: asks for a new mapping at an address of the system's choice, which touches no other memory.
        let start = unsafe { mmap(null_mut(), length, PROT_READ, MAP_PRIVATE, file.as_raw_fd(), 0) };
        (start.addr() != usize::MAX).then_some(start)
    }

    /// # Safety
    /// `start` and `length` are those of a mapping that nobody reads any more.
    pub(super) unsafe fn unmap(start: *mut c_void, length: usize) {
        // SAFETY: as the caller promises.
        unsafe { munmap(start, length) };
    }
}

#[cfg(windows)]
mod system {
    use std::ffi::c_void;
    use std::fs::File;
    use std::os::windows::io::AsRawHandle;
    use std::ptr::{null, null_mut};

    const PAGE_READONLY: u32 = 2;
    const FILE_MAP_READ: u32 = 4;

    unsafe extern "system" {
        fn CreateFileMappingW(
            file: *mut c_void,
            attributes: *const c_void,
            protection: u32,
            size_high: u32,
            size_low: u32,
            name: *const u16,
        ) -> *mut c_void;
        fn MapViewOfFile(mapping: *mut c_void, access: u32, high: u32, low: u32, length: usize) -> *mut c_void;
        fn UnmapViewOfFile(start: *const c_void) -> i32;
        fn CloseHandle(handle: *mut c_void) -> i32;
        fn VirtualUnlock(start: *mut c_void, length: usize) -> i32;
    }

    /// # Safety
    /// `start` and `length` are pages of a mapping.
    pub(super) unsafe fn release(start: *mut c_void, length: usize) {
        // SAFETY: as the caller promises. The function takes pages that nobody has locked out of the working set.
        unsafe { VirtualUnlock(start, length) };
    }

    pub(super) fn map(file: &File, length: usize) -> Option<*mut c_void> {
        // SAFETY: makes a mapping without a name of a file that is open, of the file's own size.
        let mapping = unsafe { CreateFileMappingW(file.as_raw_handle(), null(), PAGE_READONLY, 0, 0, null()) };
        if mapping.is_null() {
            return None;
        }
        // SAFETY: asks for a view at an address of the system's choice; the view keeps the mapping when the handle is closed.
        let start = unsafe {
            let start = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, length);
            CloseHandle(mapping);
            start
        };
        (start != null_mut()).then_some(start)
    }

    /// # Safety
    /// `start` is that of a mapping that nobody reads any more.
    pub(super) unsafe fn unmap(start: *mut c_void, _length: usize) {
        // SAFETY: as the caller promises.
        unsafe { UnmapViewOfFile(start) };
    }
}
