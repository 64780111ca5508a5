//! The Python that tests may use.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::Ran;

/// The Python of `ETBUILD_TEST_PYTHON`, which has these packages; `None` skips a test on request.
///
/// # Panics
/// Without a Python, unless `ETBUILD_SKIP_PYTHON=1` is set: a skipped test would look like a passed test.
#[expect(clippy::print_stderr, reason = "nobody should take a skipped test for a passed one")]
pub fn with(packages: &str) -> Option<PathBuf> {
    let python = std::env::var_os("ETBUILD_TEST_PYTHON").map(PathBuf::from);
    if python.is_none() {
        let skips = std::env::var_os("ETBUILD_SKIP_PYTHON").is_some_and(|value| value == "1");
        assert!(
            skips,
            "set ETBUILD_TEST_PYTHON to a Python with {packages}, or ETBUILD_SKIP_PYTHON=1 to skip the test"
        );
        eprintln!("skipped: needs a Python with {packages}");
    }
    python
}

/// The folders that a script wrote, sorted by name.
pub fn folders(written: &TempDir) -> Vec<PathBuf> {
    let entries = fs::read_dir(written.path()).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

/// A folder with the output of a script of the tests, run with a Python that has these packages; `arguments` follow the
/// folder.
pub fn written_by(script: &str, packages: &str, arguments: &[&str]) -> Option<TempDir> {
    let (python, folder) = (with(packages)?, tempfile::tempdir().unwrap());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(script);
    Ran::of(Command::new(python).arg(script).arg(folder.path()).args(arguments)).expect(0);
    Some(folder)
}
