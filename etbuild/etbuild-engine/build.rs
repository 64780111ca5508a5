//! Gives every stage a code version: the digest of the sources that implement it. A stage's results are reused by
//! another build of etbuild exactly when that code is the same, and nobody has to remember to count a number up.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// A source file of this crate.
macro_rules! engine {
    ($file:literal) => {
        concat!("etbuild/etbuild-engine/src/", $file)
    };
}

/// Each stage with the crates and files whose text decides what it computes, relative to the workspace root.
const STAGES: &[(&str, &[&str])] = &[
    (
        "EXPORT",
        &[
            engine!("query/export.rs"),
            engine!("python/export.py"),
            engine!("python/protocol.rs"),
            engine!("python/reads.rs"),
        ],
    ),
    (
        "IMPORT",
        &[
            "etbuild/etbuild-checkpoint",
            "etbuild/etbuild-import",
            "etbuild/etbuild-ir",
            "runtime/et-core",
            engine!("query/checkpoint.rs"),
            engine!("query/import.rs"),
        ],
    ),
    (
        "LOWER",
        &[
            "etbuild/etbuild-pass",
            "etbuild/etbuild-ir",
            "kernel-library/et-ops",
            "runtime/et-core",
            engine!("query/lower.rs"),
        ],
    ),
    (
        "QUANTIZE",
        &[
            "etbuild/etbuild-quantize",
            "etbuild/etbuild-ir",
            "kernel-library/et-ops",
            "runtime/et-core",
            engine!("query/quantize.rs"),
        ],
    ),
    (
        "MEASURE",
        &[
            "etbuild/etbuild-quantize",
            "etbuild/etbuild-ir",
            "kernel-library/et-ops",
            "runtime/et-core",
            engine!("query/measure.rs"),
            engine!("losses.rs"),
        ],
    ),
    (
        "DELEGATE",
        &[
            "backends/etbuild-backend",
            "etbuild/etbuild-partition",
            "etbuild/etbuild-ir",
            "kernel-library/et-ops",
            engine!("query/delegate.rs"),
            engine!("partition_report.rs"),
        ],
    ),
    ("PLAN", &["etbuild/etbuild-memory", "etbuild/etbuild-ir", "kernel-library/et-ops", engine!("query/plan.rs")]),
    (
        "EMIT",
        &[
            "etbuild/etbuild-emit",
            "etbuild/etbuild-ir",
            "runtime/et-format",
            "kernel-library/et-ops",
            "etbuild/etbuild-checkpoint",
            engine!("query/emit.rs"),
            engine!("texts.rs"),
            engine!("interface.rs"),
        ],
    ),
    ("SELECT", &["etbuild/etbuild-link", engine!("query/select.rs"), engine!("link_facts.rs")]),
    ("LINK", &["etbuild/etbuild-link", engine!("query/link.rs"), engine!("link_facts.rs"), engine!("verify_data.rs")]),
    ("VERIFY", &[engine!("query/verify.rs"), engine!("process.rs"), engine!("board_report.rs")]),
];

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../..");
    let lock = digest_of(&root, &[root.join("Cargo.lock")]);
    let constants = STAGES.iter().map(|(stage, crates)| constant(&root, stage, crates, &lock));
    let text = constants.collect::<String>();
    let path = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("versions.rs");
    if let Err(error) = fs::write(&path, text) {
        println!("cargo::error=cannot write {}: {error}", path.display());
    }
}

fn constant(root: &Path, stage: &str, crates: &[&str], lock: &str) -> String {
    let files: Vec<PathBuf> = crates.iter().flat_map(|name| sources(&root.join(name))).collect();
    let digest = blake3::hash(format!("{lock}{}", digest_of(root, &files)).as_bytes()).to_hex();
    format!("/// The code version of the stage.\npub const {stage}: &str = \"{}\";\n", &digest[..32])
}

/// A file itself; of a crate the manifest, the build script and everything below `src/`, sorted.
fn sources(folder: &Path) -> Vec<PathBuf> {
    if folder.is_file() {
        return vec![folder.to_owned()];
    }
    let mut files = vec![folder.join("Cargo.toml"), folder.join("build.rs")];
    let mut folders = vec![folder.join("src")];
    while let Some(folder) = folders.pop() {
        println!("cargo::rerun-if-changed={}", folder.display());
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

/// The digest of the names and bytes of the files that exist; names are relative, so that a checkout's place is no input.
fn digest_of(root: &Path, files: &[PathBuf]) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in files {
        if let Ok(bytes) = fs::read(file) {
            // Of existing files only: to Cargo, a missing one has always changed.
            println!("cargo::rerun-if-changed={}", file.display());
            let name = file.strip_prefix(root).unwrap_or(file).to_string_lossy().into_owned();
            hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
            hasher.update(&(bytes.len() as u64).to_le_bytes()).update(&bytes);
        }
    }
    hasher.finalize().to_hex().to_string()
}
