//! The tracked files of the repository: build outputs and untracked files do not count.

use std::path::Path;

use git2::Repository;

use crate::error::Error;

/// The tracked files that exist, relative to the root, sorted.
pub fn files(root: &Path) -> Result<Vec<String>, Error> {
    let index = Repository::discover(root)?.index()?;
    let names = index.iter().map(|entry| String::from_utf8_lossy(&entry.path).into_owned());
    Ok(names.filter(|name| root.join(name).is_file()).collect())
}
