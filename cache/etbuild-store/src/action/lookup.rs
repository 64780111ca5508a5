//! Looking up an action: the record, and the presence of all outputs.

use std::path::Path;
use std::{fs, io};

use super::ActionResult;
use crate::blob::Condition;
use crate::sealed::Unreadable;
use crate::{BlobRef, Digest, Key, Store, StoreError};

/// The number of output bytes that a look-up hashes, in order; further outputs are hashed when opened. A model's
/// weights are outputs of several stages.
const HASH_IN_ALL: u64 = 16 << 20;

/// The answer of the action cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// The action ran; every output is in the store.
    Hit(ActionResult),
    /// The action has to run.
    Miss(MissReason),
}

/// Why an action has to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissReason {
    /// The action never ran, or the record has been removed.
    Unrecorded,
    /// Another version of etbuild wrote the record.
    OtherVersion,
    /// The record was torn or garbled, and has been removed.
    UnreadableRecord,
    /// An output has been removed from the store; so has the record.
    Evicted {
        /// The output's name.
        output: String,
        /// The blob that is gone.
        blob: Digest,
    },
    /// An output was damaged. The output is in quarantine, and the record has been removed.
    Corrupt {
        /// The output's name.
        output: String,
        /// The blob whose bytes were wrong.
        blob: Digest,
    },
}

impl Store {
    /// Whether the action of `key` has been recorded, with every output there and whole.
    pub fn lookup(&self, key: &Key) -> Result<Lookup, StoreError> {
        let action = key.action();
        let Some(bytes) = read_if_there(&self.layout().record(&action))? else {
            return Ok(Lookup::Miss(MissReason::Unrecorded));
        };
        match ActionResult::decode(&bytes, &action) {
            Ok(result) => self.check(result),
            Err(Unreadable::OtherVersion) => Ok(Lookup::Miss(MissReason::OtherVersion)),
            Err(Unreadable::Damaged) => {
                self.discard_record(&action);
                Ok(Lookup::Miss(MissReason::UnreadableRecord))
            }
        }
    }

    fn check(&self, result: ActionResult) -> Result<Lookup, StoreError> {
        let mut left = HASH_IN_ALL;
        for (name, blob) in &result.outputs {
            let fault = self.fault(name, blob, left)?;
            left = left.checked_sub(blob.size).unwrap_or(left);
            if let Some(reason) = fault {
                self.forget(&result.action);
                return Ok(Lookup::Miss(reason));
            }
        }
        Ok(Lookup::Hit(result))
    }

    fn fault(&self, name: &str, blob: &BlobRef, hash_up_to: u64) -> Result<Option<MissReason>, StoreError> {
        let (output, digest) = (name.to_owned(), blob.digest);
        Ok(match self.condition_for_use(blob, hash_up_to)? {
            Condition::Sound(_) => None,
            Condition::Absent => Some(MissReason::Evicted { output, blob: digest }),
            Condition::Damaged => Some(MissReason::Corrupt { output, blob: digest }),
        })
    }
}

/// The contents of a file; `None` for a missing file.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io(path, error)),
    }
}
