//! Arbitrary bytes as a program file: loaded with the memory that the file requires, up to a limit, and executed.
#![no_main]

#[path = "../execution.rs"]
mod execution;

use libfuzzer_sys::fuzz_target;

/// More memory than any file of interest asks for.
const LIMIT: usize = 1 << 20;

fuzz_target!(|file: &[u8]| {
    let _ = execution::execute(file, LIMIT);
});
