//! Gives every stage a code version: the digest of the sources that decide its results. Another build of etbuild reuses the
//! results of a stage exactly when that code is the same, and nobody has to remember to count a number up.
//!
//! The sources of a stage are all of this crate, the crates that the stage names in [`STAGES`] and every workspace crate that
//! these depend on, by their manifests; of the third-party crates behind them, the versions that `Cargo.lock` states. A new
//! module or dependency is part of the version without an entry anywhere.
#![allow(clippy::disallowed_methods, reason = "a build script reads sources")]

#[path = "build/closure.rs"]
mod closure;

use std::path::{Path, PathBuf};
use std::{env, fs};

use closure::Workspace;

/// Each stage with the crates that its queries call.
const STAGES: &[(&str, &[&str])] = &[
    ("EXPORT", &["etbuild-system"]),
    ("IMPORT", &["etbuild-import", "etbuild-checkpoint"]),
    ("LOWER", &["etbuild-pass"]),
    ("QUANTIZE", &["etbuild-quantize", "etbuild-checkpoint", "et-module"]),
    ("MEASURE", &["etbuild-quantize", "etbuild-checkpoint", "et-module"]),
    ("DELEGATE", &["etbuild-partition", "etbuild-backend"]),
    ("PLAN", &["etbuild-memory"]),
    ("EMIT", &["etbuild-emit", "etbuild-checkpoint", "etbuild-backend", "et-module"]),
    ("SELECT", &["etbuild-link"]),
    ("LINK", &["etbuild-link", "et-module"]),
    ("VERIFY", &["et-module", "etbuild-system"]),
    // Blobs that several stages make once and share: widened, rotated, quantized and packed weights.
    ("SHARED", &["etbuild-quantize", "etbuild-checkpoint", "etbuild-partition", "etbuild-backend"]),
];

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../..");
    let workspace = Workspace::read(&|path| read(&root.join(path)));
    let text = STAGES.iter().map(|(stage, crates)| constant(&root, &workspace, stage, crates)).collect::<String>();
    let path = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("versions.rs");
    if let Err(error) = fs::write(&path, text) {
        println!("cargo::error=cannot write {}: {error}", path.display());
    }
}

fn constant(root: &Path, workspace: &Workspace, stage: &str, crates: &[&str]) -> String {
    let closure = workspace.closure(crates);
    let folders = closure.folders.iter().map(String::as_str).chain(["etbuild/etbuild-engine"]);
    let files: Vec<PathBuf> = folders.flat_map(|folder| sources(&root.join(folder))).collect();
    let digest = blake3::hash(format!("{}{}", closure.locked, digest_of(root, &files)).as_bytes()).to_hex();
    format!("/// The code version of the stage.\npub const {stage}: &str = \"{}\";\n", &digest[..32])
}

/// A text file of the workspace; empty where there is no such file.
fn read(path: &Path) -> String {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(path).unwrap_or_default()
}

/// The manifest and the build script of a crate, and every file below `src/` and `build/`, sorted.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = vec![folder.join("Cargo.toml"), folder.join("build.rs")];
    let mut folders = vec![folder.join("src"), folder.join("build")];
    while let Some(folder) = folders.pop() {
        if !folder.is_dir() {
            continue;
        }
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
            // Only for files that exist: to Cargo, a missing file has always changed.
            println!("cargo::rerun-if-changed={}", file.display());
            let name = file.strip_prefix(root).unwrap_or(file).to_string_lossy().into_owned();
            hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
            hasher.update(&(bytes.len() as u64).to_le_bytes()).update(&bytes);
        }
    }
    hasher.finalize().to_hex().to_string()
}
