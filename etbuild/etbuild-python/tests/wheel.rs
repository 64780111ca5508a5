//! The wheel: installed with pip into an environment of its own and used, as a user does.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository's root.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}\n{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// The command and the extension module of this build.
fn built() -> (PathBuf, PathBuf) {
    let dependencies = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let command = dependencies.parent().unwrap().join("etbuild");
    assert!(command.exists(), "build the command first: `cargo build --profile test -p etbuild --features full`");
    (command, dependencies.join("libetbuild_native.so"))
}

/// The Python with the packages of the tests; `None` skips a test on request.
fn python() -> Option<PathBuf> {
    let python = std::env::var_os("ETBUILD_TEST_PYTHON").map(PathBuf::from);
    let skips = std::env::var_os("ETBUILD_SKIP_PYTHON").is_some_and(|value| value == "1");
    assert!(python.is_some() || skips, "set ETBUILD_TEST_PYTHON, or ETBUILD_SKIP_PYTHON=1 to skip the test");
    python
}

/// An environment with the wheel, and with the packages of `python` behind it.
fn environment(python: &Path, folder: &Path) -> PathBuf {
    let (command, module) = built();
    let mut pack = Command::new(python);
    pack.arg(".ci/wheel.py").arg(command).arg("x86_64-unknown-linux-gnu").arg(folder).arg("--module").arg(module);
    pack.env("SOURCE_DATE_EPOCH", "1000000000").env("ETBUILD_WHEEL_COMPRESSION", "0");
    let wheel = run(pack.current_dir(repository()));
    let venv = folder.join("venv");
    run(Command::new(python).args(["-m", "venv"]).arg(&venv));
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"];
    run(Command::new(venv.join("bin/python")).args(pip).arg(wheel.trim()));
    let paths = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let packages = run(Command::new(python).args(["-c", paths]));
    let own = run(Command::new(venv.join("bin/python")).args(["-c", paths]));
    std::fs::write(Path::new(own.trim()).join("packages_of_tests.pth"), packages).unwrap();
    venv
}

/// An empty cache, with the device crates that the tests of `etbuild` have compiled, if there are any: a link takes seconds then.
fn cache(folder: &Path) -> PathBuf {
    let cache = folder.join("cache");
    let warm = std::fs::read_dir(Path::new(env!("CARGO_TARGET_TMPDIR")).join("warm")).into_iter().flatten().flatten();
    let scratch = warm.map(|entry| entry.path().join("cache/v1/scratch")).find(|scratch| scratch.exists());
    if let Some(scratch) = scratch {
        std::fs::create_dir_all(cache.join("v1")).unwrap();
        std::os::unix::fs::symlink(scratch, cache.join("v1/scratch")).unwrap();
    }
    cache
}

/// Runs a file of tests with the installed wheel.
fn expect_passed(file: &str) {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let venv = environment(&python, folder.path());
    let mut test = Command::new(venv.join("bin/python"));
    test.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file)).arg("--verbose");
    test.env("ETBUILD_CACHE_DIR", cache(folder.path())).env("ETBUILD_REPOSITORY", repository());
    run(test.current_dir(folder.path()));
}

#[test]
fn an_installed_wheel_exports_compiles_and_runs_models() {
    expect_passed("test_etbuild.py");
}

#[test]
fn an_installed_wheel_calls_tools_and_splits_thoughts() {
    expect_passed("test_chat.py");
}

#[test]
fn an_installed_wheel_reads_pictures_and_hears() {
    expect_passed("test_media.py");
}
