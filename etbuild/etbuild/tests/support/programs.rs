//! Programs of the machine that tests need.

use std::process::{Command, Stdio};

/// Whether a program is here.
///
/// # Panics
/// Without the program, where `ETBUILD_REQUIRE_EMULATORS` is set.
#[expect(clippy::print_stderr, reason = "nobody should take a skipped test for a passed one")]
pub fn has(program: &str, arguments: &[&str]) -> bool {
    let started = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    assert!(started || std::env::var_os("ETBUILD_REQUIRE_EMULATORS").is_none(), "{program} is missing");
    if !started {
        eprintln!("skipped: {program} is missing");
    }
    started
}
