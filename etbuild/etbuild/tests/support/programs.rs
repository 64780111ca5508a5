//! Programs of the machine that tests need.

use std::process::{Command, Stdio};

/// The compiler that an environment variable names, or else the one of this name.
pub fn compiler(variable: &str, name: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| name.to_owned())
}

/// Whether a program is here.
///
/// # Panics
/// Without the program, where `ETBUILD_REQUIRE_EMULATORS` is set.
pub fn has(program: &str, arguments: &[&str]) -> bool {
    has_required(program, arguments, std::env::var_os("ETBUILD_REQUIRE_EMULATORS").is_some())
}

/// Whether a program is here.
///
/// # Panics
/// Without the program, if it `is_required`.
#[expect(clippy::print_stderr, reason = "nobody should take a skipped test for a passed one")]
pub fn has_required(program: &str, arguments: &[&str], is_required: bool) -> bool {
    let started = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    assert!(started || !is_required, "{program} is missing");
    if !started {
        eprintln!("skipped: {program} is missing");
    }
    started
}
