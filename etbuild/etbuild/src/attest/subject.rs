//! A file of the results, by its digests.

use std::fmt::Write;
use std::path::Path;

use etbuild_store::Digest;
use sha2::{Digest as _, Sha256};

/// A file of the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its name in the folder.
    pub name: String,
    /// Its BLAKE3, as everywhere in etbuild.
    pub blake3: String,
    /// Its SHA-256, which others look for.
    pub sha256: String,
}

impl Subject {
    /// The file of this name in a folder.
    pub fn read(folder: &Path, name: &str) -> std::io::Result<Self> {
        let bytes = std::fs::read(folder.join(name))?;
        let sha256 = Sha256::digest(&bytes).iter().fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
        Ok(Self { name: name.to_owned(), blake3: Digest::of(&bytes).to_string(), sha256 })
    }
}
