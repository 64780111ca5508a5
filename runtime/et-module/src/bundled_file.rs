//! Files of bundled programs (`.bpte`): a program with test cases.

use et_format::BundledProgram;

/// Whether a file is a bundled program.
pub fn is_bundled(file: &[u8]) -> bool {
    BundledProgram::has_identifier(file)
}

/// The program in a file, bundled or not.
pub fn program_in(file: &[u8]) -> et_core::Result<&[u8]> {
    if is_bundled(file) { BundledProgram::parse(file)?.program() } else { Ok(file) }
}
