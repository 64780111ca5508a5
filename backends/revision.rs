//! The revision of a backend: the digest of all sources that decide how a partition is lowered and executed.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Sets an environment variable of the compiler to the digest of source folders, which are relative to the workspace root.
pub fn set(variable: &str, folders: &[&str]) {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../..");
    let mut hasher = blake3::Hasher::new();
    for folder in folders {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
        digest(&root.join(folder), &mut hasher);
    }
    println!("cargo::rustc-env={variable}={}", hasher.finalize());
}

/// Hashes the files below a folder in the order of their names.
fn digest(folder: &Path, hasher: &mut blake3::Hasher) {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            digest(&path, hasher);
        } else if let Ok(bytes) = fs::read(&path) {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(&bytes);
        }
    }
}
