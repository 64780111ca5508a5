//! A file of the results, by digests.

use std::fmt::Write;
use std::path::Path;

use etbuild_store::Digest;
use sha2::{Digest as _, Sha256};

/// A file of the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The name in the folder.
    pub name: String,
    /// The BLAKE3 digest, as everywhere in etbuild.
    pub blake3: String,
    /// The SHA-256 digest, for other tools.
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
