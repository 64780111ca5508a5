//! The functions that the page's `gpu.js` has for the driver. Objects are numbers above 0.
//!
//! Functions that return a status may suspend the module until the browser answers.
#![allow(unsafe_code, reason = "calls functions of the page")]

use et_core::Error;

use crate::problem::{Outcome, Problem};

/// The numbers that describe a device, in the order of [`open`].
pub const NUMBERS: usize = 10;

/// A dispatch: the pipeline, the bindings, and workgroups in x, y and z.
pub type Dispatched = [u32; 5];

/// A binding: the buffer, the first byte and the bytes.
pub type Bound = [u32; 3];

mod page {
    #[link(wasm_import_module = "etbuild_gpu")]
    unsafe extern "C" {
        pub fn open(numbers: *mut u32) -> u32;
        pub fn text(start: *mut u8, size: usize) -> usize;
        pub fn is_lost(device: u32) -> u32;
        pub fn buffer(device: u32, size: u32) -> u32;
        pub fn write(buffer: u32, offset: u32, start: *const u8, size: usize);
        pub fn fetch(buffer: u32, offset: u32, size: u32) -> u32;
        pub fn read(buffer: u32, offset: u32, start: *mut u8, size: usize);
        pub fn pipeline(device: u32, start: *const u8, size: usize) -> u32;
        pub fn bindings(device: u32, pipeline: u32, list: *const u32, count: usize) -> u32;
        pub fn submit(device: u32, dispatches: *const u32, count: usize);
        pub fn finish(device: u32) -> u32;
        pub fn release(object: u32);
    }
}

/// The text of the last answer: the name of an opened GPU, or a failure in a sentence.
fn text() -> String {
    let mut bytes = vec![0; 1000];
    // SAFETY: the page writes at most so many bytes.
    let size = unsafe { page::text(bytes.as_mut_ptr(), bytes.len()) };
    bytes.truncate(size);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The failure of a status; 0 is none.
fn check(status: u32) -> Outcome<()> {
    let error = match status {
        0 => return Ok(()),
        1 => Error::DelegateInvalidHandle,
        2 => Error::DelegateMemoryAllocationFailed,
        _ => Error::Internal,
    };
    Err(Problem::new(error, text()))
}

/// Opens a GPU: its number, its name, and its numbers: whether the browser computes on the CPU, the most workgroups of a dispatch
/// in a dimension, the largest workgroup in x, y and z, its most invocations, the largest binding, the largest buffer, the most storage
/// buffers of a kernel, and the alignment of bindings.
pub fn open() -> Outcome<(u32, String, [u32; NUMBERS])> {
    let mut numbers = [0; NUMBERS];
    // SAFETY: the page writes so many numbers.
    match unsafe { page::open(numbers.as_mut_ptr()) } {
        0 => Err(Problem::unsupported(text())),
        device => Ok((device, text(), numbers)),
    }
}

/// Whether a GPU was lost.
pub fn is_lost(device: u32) -> bool {
    // SAFETY: the page has no access to memory here.
    unsafe { page::is_lost(device) != 0 }
}

/// A buffer; a failure is found by [`finish`] or [`fetch`].
pub fn buffer(device: u32, size: u32) -> u32 {
    // SAFETY: as before.
    unsafe { page::buffer(device, size) }
}

/// Copies bytes to a buffer before later executions; up to 3 bytes behind the last are filled with zeros.
pub fn write(buffer: u32, offset: u32, bytes: &[u8]) {
    // SAFETY: the page reads the bytes.
    unsafe { page::write(buffer, offset, bytes.as_ptr(), bytes.len()) }
}

/// Waits for all executions, and gets bytes of a buffer for [`read`].
pub fn fetch(buffer: u32, offset: u32, size: u32) -> Outcome<()> {
    // SAFETY: the page has no access to memory here.
    check(unsafe { page::fetch(buffer, offset, size) })
}

/// Copies bytes that were got from a buffer to `size` bytes of memory.
///
/// # Safety
/// The memory has the bytes, and nobody else accesses them.
pub unsafe fn read(buffer: u32, offset: u32, start: *mut u8, size: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { page::read(buffer, offset, start, size) }
}

/// Begins to compile a kernel; a failure is found by [`finish`].
pub fn pipeline(device: u32, words: &[u32]) -> u32 {
    // SAFETY: the page reads the words.
    unsafe { page::pipeline(device, words.as_ptr().cast(), size_of_val(words)) }
}

/// The bindings of a dispatch.
pub fn bindings(device: u32, pipeline: u32, bound: &[Bound]) -> u32 {
    // SAFETY: the page reads the list.
    unsafe { page::bindings(device, pipeline, bound.as_ptr().cast(), bound.len()) }
}

/// Executes dispatches in order; a failure is found by [`fetch`].
pub fn submit(device: u32, dispatches: &[Dispatched]) {
    // SAFETY: the page reads the list.
    unsafe { page::submit(device, dispatches.as_ptr().cast(), dispatches.len()) }
}

/// Waits for the compilation of kernels and the creation of buffers.
pub fn finish(device: u32) -> Outcome<()> {
    // SAFETY: the page has no access to memory here.
    check(unsafe { page::finish(device) })
}

/// Ends an object.
pub fn release(object: u32) {
    // SAFETY: as before.
    unsafe { page::release(object) }
}
