//! Files of bundled programs (`.bpte`): a program with test cases.

use et_format::{BundledProgram, ProgramFile};

/// Whether a file is a bundled program.
pub fn is_bundled(file: &[u8]) -> bool {
    BundledProgram::has_identifier(file)
}

/// The program in a file, bundled or not.
pub fn program_in(file: &[u8]) -> et_core::Result<&[u8]> {
    if is_bundled(file) { BundledProgram::parse(file)?.program() } else { Ok(file) }
}

/// The bytes that a program file, bundled or not, has under a name. No method is loaded.
pub fn named_data<'f>(file: &'f [u8], key: &str) -> Option<&'f [u8]> {
    ProgramFile::parse(program_in(file).ok()?).ok()?.named_data(key).ok()
}
