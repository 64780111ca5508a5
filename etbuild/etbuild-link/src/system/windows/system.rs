//! What a process or a DLL defines for Windows: the table of thread-local data, and random numbers.
#![allow(unsafe_code)] // Symbols that the linker and the loader of Windows look for.

use core::ffi::c_void;

/// A function that the loader calls when a thread starts or ends.
type Callback = Option<unsafe extern "system" fn(*mut c_void, u32, *mut c_void)>;

/// The directory of thread-local data: "The .tls Section" in Microsoft's PE format.
#[repr(C)]
struct Directory {
    start: *const u8,
    end: *const u8,
    index: *mut u32,
    callbacks: *const Callback,
    zero_fill: u32,
    characteristics: u32,
}

// SAFETY: the loader alone reads the addresses, and none is followed here.
unsafe impl Sync for Directory {}

// SAFETY: the linker looks for this name, and the loader writes the index before any code runs.
#[unsafe(no_mangle)]
static mut _tls_index: u32 = 0;

// The linker sorts sections of one name and one access by the text behind `$`: thread-local data, which is written, stands between
// these bounds.
#[used]
// SAFETY: the section is data.
#[unsafe(link_section = ".tls")]
static mut START: u8 = 0;
#[used]
// SAFETY: the section is data.
#[unsafe(link_section = ".tls$ZZZ")]
static mut END: u8 = 0;
#[used]
// SAFETY: the section is a list of functions, which this empty place begins.
#[unsafe(link_section = ".CRT$XLA")]
static BEFORE_CALLBACKS: Callback = None;
#[used]
// SAFETY: the section is a list of functions, which this empty place ends.
#[unsafe(link_section = ".CRT$XLZ")]
static AFTER_CALLBACKS: Callback = None;

// SAFETY: the linker looks for this name, and finds the directory that the loader expects.
#[unsafe(no_mangle)]
static _tls_used: Directory = Directory {
    start: &raw const START,
    end: &raw const END,
    index: &raw mut _tls_index,
    // SAFETY: the address behind the first place is that of a callback or of the last place.
    callbacks: unsafe { (&raw const BEFORE_CALLBACKS).add(1) },
    zero_fill: 0,
    characteristics: 0,
};

unsafe extern "system" {
    #[link_name = "SystemFunction036"]
    fn rtl_gen_random(buffer: *mut u8, length: u32) -> u8;
}

/// Fills a buffer with random bytes. Rust's standard library calls `ProcessPrng` of bcryptprimitives.dll, which Wine has from version 9
/// on; `RtlGenRandom` is in every Windows.
// SAFETY: the name and the signature are those of the system's function.
#[unsafe(no_mangle)]
unsafe extern "system" fn ProcessPrng(buffer: *mut u8, length: usize) -> i32 {
    // SAFETY: the caller gives a buffer of `length` bytes. The standard library asks for a few bytes at a time.
    i32::from(unsafe { rtl_gen_random(buffer, length as u32) } != 0)
}
