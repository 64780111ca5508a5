//! Any bytes: every field that the reader has a view for is read, or is an error.
#![no_main]

#[path = "../../../et-format/tests/describe/mod.rs"]
mod describe;

use libfuzzer_sys::fuzz_target;

/// The limit of a file in bytes. Offsets of a file may share a list, so a longer file could expand to more text than
/// the memory holds.
const LONGEST: usize = 2560;

fuzz_target!(|file: &[u8]| {
    let _ = describe::describe(&file[..file.len().min(LONGEST)]);
});
