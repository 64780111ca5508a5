//! Any bytes as a bundled program: every field is read, and the program's own.
#![no_main]

#[path = "../../../et-format/tests/describe/mod.rs"]
mod describe;
#[path = "../../../et-format/tests/describe_data/mod.rs"]
mod describe_data;

use et_format::BundledProgram;
use libfuzzer_sys::fuzz_target;

/// The limit of a file in bytes. Offsets of a file may share a list, so a longer file could expand to more text than
/// the memory holds.
const LONGEST: usize = 2560;

fuzz_target!(|file: &[u8]| {
    let file = &file[..file.len().min(LONGEST)];
    let _ = describe_data::describe_bundle(file);
    let _ = BundledProgram::parse(file).and_then(BundledProgram::program).and_then(describe::describe);
});
