//! Where each thing lies below the store's root.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::{ActionKey, Digest};

/// The folder that this version of the store reads and writes; another version has another folder.
const VERSION: &str = "v1";

/// The paths of a store. No method here touches the disk.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    root: PathBuf,
}

impl Layout {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn cache_tag(&self) -> PathBuf {
        self.root.join("CACHEDIR.TAG")
    }

    pub fn blobs(&self) -> PathBuf {
        self.folder("cas")
    }

    pub fn blob(&self, digest: &Digest) -> PathBuf {
        sharded(self.blobs(), digest)
    }

    pub fn records(&self) -> PathBuf {
        self.folder("ac")
    }

    pub fn record(&self, action: &ActionKey) -> PathBuf {
        sharded(self.records(), &action.0)
    }

    pub fn temporary(&self) -> PathBuf {
        self.folder("tmp")
    }

    pub fn locks(&self) -> PathBuf {
        self.folder("locks")
    }

    pub fn lock(&self, action: &ActionKey) -> PathBuf {
        self.locks().join(action.to_string())
    }

    pub fn collection_lock(&self) -> PathBuf {
        self.folder("gc.lock")
    }

    pub fn checked(&self) -> PathBuf {
        self.folder("checked")
    }

    pub fn histories(&self) -> PathBuf {
        self.folder("history")
    }

    pub fn history(&self, slot: &str) -> PathBuf {
        sharded(self.histories(), &Digest::of(slot.as_bytes()))
    }

    pub fn memos(&self) -> PathBuf {
        self.folder("memo")
    }

    pub fn memo(&self, subject: &Digest) -> PathBuf {
        sharded(self.memos(), subject)
    }

    pub fn roots(&self) -> PathBuf {
        self.folder("roots")
    }

    pub fn root_file(&self, name: &str, witness: &Path) -> PathBuf {
        sharded(self.roots(), &Digest::of(format!("{name}\0{}", witness.display()).as_bytes()))
    }

    pub fn quarantine(&self) -> PathBuf {
        self.folder("quarantine")
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.root.join(VERSION).join(name)
    }
}

/// The digest that a path below a sharded folder is named after; `None` for a file that is not the store's.
pub(crate) fn digest_of_path(path: &Path) -> Option<Digest> {
    let rest = path.file_name().and_then(OsStr::to_str)?;
    let shard = path.parent().and_then(Path::file_name).and_then(OsStr::to_str)?;
    format!("{shard}{rest}").parse().ok().filter(|_| shard.len() == 2)
}

fn sharded(folder: PathBuf, digest: &Digest) -> PathBuf {
    let name = digest.to_string();
    let (shard, rest) = name.split_at(2);
    folder.join(shard).join(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_lies_in_the_shard_of_its_first_two_digits() {
        let digest = Digest::of(b"");
        let path = Layout::new(Path::new("root")).blob(&digest);
        let rest = &digest.to_string()[2..];
        assert_eq!(path, Path::new("root/v1/cas/af").join(rest));
        assert_eq!(digest_of_path(&path), Some(digest));
    }

    #[test]
    fn a_stray_file_has_no_digest() {
        assert_eq!(digest_of_path(Path::new("cas/af/.DS_Store")), None);
        assert_eq!(digest_of_path(Path::new("cas").join(Digest::of(b"").to_string()).as_path()), None);
    }
}
