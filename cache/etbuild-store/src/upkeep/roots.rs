//! Roots: a root names the actions whose results are still in use.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::walk;
use crate::action::{ActionResult, read_if_there};
use crate::scratch::Durability;
use crate::{ActionKey, BlobRef, Store, StoreError, sealed};

/// A user of results, for as long as `witness` exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// The name for users: `digits@pico2`.
    pub name: String,
    /// The file that shows that the results are in use still; an absolute path.
    pub witness: PathBuf,
    /// The actions whose results are kept.
    pub actions: Vec<ActionKey>,
}

impl Store {
    /// Stores `root`, in place of an earlier root of the same name and witness. Writes only a changed root.
    pub fn keep(&self, root: &Root) -> Result<(), StoreError> {
        let path = self.layout().root_file(&root.name, &root.witness);
        if decode(fs::read(&path).ok()).as_ref() == Some(root) {
            return Ok(());
        }
        self.scratch().write(&path, &sealed::seal(root)?, Durability::Cached)
    }

    /// Every root that is still in use, by name. Roots whose witness is gone are forgotten.
    pub fn roots(&self) -> Result<Vec<Root>, StoreError> {
        let mut roots = Vec::new();
        for entry in walk::entries(&self.layout().roots())? {
            match decode(fs::read(&entry.path).ok()) {
                Some(root) if root.witness.exists() => roots.push(root),
                _ => entry.remove()?,
            }
        }
        roots.sort_by(|one: &Root, other: &Root| (&one.name, &one.witness).cmp(&(&other.name, &other.witness)));
        Ok(roots)
    }

    /// The blobs of a root, each once; blobs of an action without a record are not known.
    pub fn kept_by(&self, root: &Root) -> Result<Vec<BlobRef>, StoreError> {
        let mut kept = Vec::new();
        for action in &root.actions {
            let bytes = read_if_there(&self.layout().record(action))?;
            let result = bytes.and_then(|bytes| ActionResult::decode(&bytes, action).ok());
            kept.extend(result.into_iter().flat_map(|result| result.outputs.into_iter().map(|(_, blob)| blob)));
        }
        kept.sort_by_key(|blob: &BlobRef| blob.digest);
        kept.dedup();
        Ok(kept)
    }
}

fn decode(bytes: Option<Vec<u8>>) -> Option<Root> {
    sealed::unseal(&bytes?).ok()
}
