//! The shape of source files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The most lines that a source file may have.
const LONGEST: usize = 600;

/// The folders that hold source files.
const FOLDERS: &[&str] = &["runtime", "kernel-library", "etbuild", "cache"];

/// Every source file that does not open with a sentence about itself, is too long, or has a name that says nothing.
pub fn breaches(root: &Path) -> Result<Vec<String>, Error> {
    let mut findings = Vec::new();
    for folder in FOLDERS {
        for path in sources(&root.join(folder))? {
            let text = fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            findings.extend(of_file(&name, &text));
        }
    }
    Ok(findings)
}

fn of_file(name: &str, text: &str) -> Vec<String> {
    let lines = text.lines().count();
    let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
    let rules = [
        (!text.starts_with("//!"), "does not open with `//!`".to_owned()),
        (lines > LONGEST, format!("has {lines} lines, more than {LONGEST}")),
        (matches!(&*stem, "utils" | "util" | "helpers" | "misc" | "common"), "has a name that says nothing".to_owned()),
    ];
    rules.into_iter().filter(|(broken, _)| *broken).map(|(_, rule)| format!("{name}: {rule}")).collect()
}

/// The Rust files below a folder, sorted; build products are not looked at.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| Error::file(&folder, error))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_it_is_and_is_not_long() {
        assert_eq!(of_file("src/shape.rs", "//! Shapes.\n"), Vec::<String>::new());
        assert_eq!(of_file("src/utils.rs", &"\n".repeat(601)).len(), 3);
    }
}
