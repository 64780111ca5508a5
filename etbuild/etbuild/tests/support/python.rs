//! The Python that tests may use.

use std::path::PathBuf;

/// The Python of `ETBUILD_TEST_PYTHON`, which has these packages. Without one the test that asks says so and passes, except in
/// continuous integration, where it fails.
#[expect(clippy::print_stderr, reason = "nobody should take a skipped test for a passed one")]
pub fn with(packages: &str) -> Option<PathBuf> {
    let python = std::env::var_os("ETBUILD_TEST_PYTHON").map(PathBuf::from);
    if python.is_none() {
        assert!(std::env::var_os("CI").is_none(), "ETBUILD_TEST_PYTHON is not set");
        eprintln!("skipped: set ETBUILD_TEST_PYTHON to a Python with {packages}");
    }
    python
}
