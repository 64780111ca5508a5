//! The records of actions.

use std::fs;

use serde::{Deserialize, Serialize};

use crate::scratch::Durability;
use crate::sealed::{self, Unreadable};
use crate::{ActionKey, BlobRef, Event, Key, Store, StoreError};

/// The result of an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionResult {
    /// The action.
    pub action: ActionKey,
    /// The outputs by name, in the order of recording.
    pub outputs: Vec<(String, BlobRef)>,
}

impl ActionResult {
    /// The output of this name.
    pub fn output(&self, name: &str) -> Option<BlobRef> {
        self.outputs.iter().find(|(output, _)| output == name).map(|(_, blob)| *blob)
    }

    /// Reads the record of `action`. A record that was copied here from another action is damage.
    pub(crate) fn decode(bytes: &[u8], action: &ActionKey) -> Result<Self, Unreadable> {
        let result: Self = sealed::unseal(bytes)?;
        if result.action == *action { Ok(result) } else { Err(Unreadable::Damaged) }
    }
}

impl Store {
    /// Records the result of the action of `key`, for every process and for good. All outputs must have been stored.
    ///
    /// Only a success is recorded; a failure leaves no trace.
    pub fn record(&self, key: &Key, outputs: &[(String, BlobRef)]) -> Result<(), StoreError> {
        let action = key.action();
        for (name, blob) in outputs {
            if !self.contains(blob)? {
                return Err(StoreError::UnstoredOutput { action, name: name.clone(), blob: blob.digest });
            }
        }
        let bytes = sealed::seal(&ActionResult { action, outputs: outputs.to_vec() })?;
        self.scratch().write(&self.layout().record(&action), &bytes, Durability::Synced)
    }

    /// Removes the record of an action, so that the next look-up misses.
    pub fn forget(&self, action: &ActionKey) {
        // A record that could not be removed is checked again at every look-up.
        let _ = fs::remove_file(self.layout().record(action));
    }

    pub(crate) fn discard_record(&self, action: &ActionKey) {
        self.forget(action);
        self.report(&Event::RecordDiscarded { action: *action });
    }
}
