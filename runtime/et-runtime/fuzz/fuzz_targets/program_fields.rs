//! Any bytes: every field that the reader has a view for is read, or is an error.
#![no_main]

#[path = "../../../et-format/tests/describe/mod.rs"]
mod describe;

use libfuzzer_sys::fuzz_target;

/// Lists in a file may be one list many times over, so that a longer file describes itself in more text than there is memory.
const LONGEST: usize = 2560;

fuzz_target!(|file: &[u8]| {
    let _ = describe::describe(&file[..file.len().min(LONGEST)]);
});
