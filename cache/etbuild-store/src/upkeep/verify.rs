//! Hashing every blob again.

use std::fs;

use super::walk::{self, Entry};
use crate::action::{ActionResult, read_if_there};
use crate::blob::Condition;
use crate::sealed::Unreadable;
use crate::{ActionKey, BlobRef, Digest, Store, StoreError};

/// A fault that [`Store::verify`] found and put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A blob's bytes did not fit the name; the blob is in quarantine.
    CorruptBlob {
        /// The name.
        blob: Digest,
    },
    /// A record was torn or garbled; the record has been removed.
    UnreadableRecord {
        /// The action of the record's file name.
        action: ActionKey,
    },
    /// A record named a blob that is missing or has another size; the record has been removed.
    DanglingRecord {
        /// The action.
        action: ActionKey,
        /// The blob.
        blob: Digest,
    },
}

impl Store {
    /// Hashes every blob and checks every record. Faulty files are put aside or removed, and returned.
    pub fn verify(&self) -> Result<Vec<Finding>, StoreError> {
        self.verified().clear();
        let mut findings = Vec::new();
        for entry in walk::entries(&self.layout().blobs())? {
            findings.extend(self.verify_blob(&entry)?);
        }
        for entry in walk::entries(&self.layout().records())? {
            findings.extend(self.verify_record(&entry)?);
        }
        Ok(findings)
    }

    fn verify_blob(&self, entry: &Entry) -> Result<Option<Finding>, StoreError> {
        let blob = BlobRef { digest: entry.digest, size: entry.size };
        let condition = self.condition(&blob, u64::MAX)?;
        Ok(matches!(condition, Condition::Damaged).then_some(Finding::CorruptBlob { blob: blob.digest }))
    }

    /// Checks a record, and removes an unusable record.
    pub(super) fn verify_record(&self, entry: &Entry) -> Result<Option<Finding>, StoreError> {
        let finding = self.finding_of_record(entry)?;
        match &finding {
            Some(Finding::UnreadableRecord { action }) => self.discard_record(action),
            Some(Finding::DanglingRecord { action, .. }) => self.forget(action),
            _ => {}
        }
        Ok(finding)
    }

    fn finding_of_record(&self, entry: &Entry) -> Result<Option<Finding>, StoreError> {
        let action = ActionKey(entry.digest);
        let Some(bytes) = read_if_there(&entry.path)? else {
            return Ok(None);
        };
        match ActionResult::decode(&bytes, &action) {
            Ok(result) => self.finding_of_outputs(&result),
            Err(Unreadable::OtherVersion) => Ok(None),
            Err(Unreadable::Damaged) => Ok(Some(Finding::UnreadableRecord { action })),
        }
    }

    fn finding_of_outputs(&self, result: &ActionResult) -> Result<Option<Finding>, StoreError> {
        for (_, blob) in &result.outputs {
            if !self.holds(blob) {
                return Ok(Some(Finding::DanglingRecord { action: result.action, blob: blob.digest }));
            }
        }
        Ok(None)
    }

    /// As [`Store::contains`], but does not count as a use of the blob.
    fn holds(&self, blob: &BlobRef) -> bool {
        fs::metadata(self.layout().blob(&blob.digest)).is_ok_and(|metadata| metadata.len() == blob.size)
    }
}
