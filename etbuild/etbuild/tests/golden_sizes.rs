//! How much memory the example takes on boards: numbers that only a decision should change.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The size of a board's binary in bytes.
struct Golden {
    target: &'static str,
    /// Flash beyond the program file and the verification data: instructions, constants, initial values.
    flash: u64,
    /// Memory of the model: planned tensors and values.
    arena: u64,
}

const GOLDEN: [Golden; 2] = [
    Golden { target: "mps2-an505", flash: 19_588, arena: 8_688 },
    Golden { target: "pico2", flash: 19_810, arena: 8_688 },
];

/// The tolerance in per cent: compiler versions differ a little.
const BAND: u64 = 3;

#[test]
fn the_example_has_its_golden_sizes() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path());
    for golden in &GOLDEN {
        let sizes = sizes(folder.path(), golden.target);
        let flash = ["text", "rodata", "data"].map(|part| sizes[part].as_u64().unwrap()).iter().sum();
        check(golden.target, "flash", flash, golden.flash);
        check(golden.target, "arena", sizes["arena"].as_u64().unwrap(), golden.arena);
        assert_eq!(sizes["bss"], 0, "{}: the runtime has no memory of its own", golden.target);
    }
}

fn check(target: &str, what: &str, got: u64, golden: u64) {
    let is_near = got.abs_diff(golden) * 100 <= golden * BAND;
    assert!(is_near, "{target}: {what} takes {got} bytes, more than {BAND} % from the golden {golden}");
}

/// Builds the example for all boards.
fn build(folder: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_etbuild"));
    command.args(["build", "recipes/digits.yaml"]).current_dir(repository());
    command.args(GOLDEN.iter().flat_map(|golden| ["--target", golden.target]));
    command.arg("--out").arg(folder.join("out")).env("ETBUILD_CACHE_DIR", folder.join("cache"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The size report of the example for `target`.
fn sizes(folder: &Path, target: &str) -> Value {
    let file = folder.join("out/digits").join(target).join("size.json");
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
