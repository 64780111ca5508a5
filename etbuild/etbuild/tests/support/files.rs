//! Folders as values.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Every file below a folder: its relative path and its bytes.
pub fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = paths(folder).into_iter();
    paths.map(|path| (path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap())).collect()
}

/// The paths of every file below a folder, sorted; empty for a missing folder.
pub fn paths(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries.into_iter().flat_map(|path| if path.is_dir() { paths(&path) } else { vec![path] }).collect()
}

/// Copies a file or a folder recursively.
pub fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
}

/// Removes the entries of a folder except `kept`.
pub fn remove_all_but(folder: &Path, kept: &[&Path]) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !kept.contains(&path.as_path()) {
            fs::remove_dir_all(&path).unwrap();
        }
    }
}

/// Changes a file in place, regardless of its permissions.
pub fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
}
