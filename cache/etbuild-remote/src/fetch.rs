//! From a remote into the store. Whatever comes is hashed before it counts.

use std::collections::BTreeSet;

use etbuild_store::{ActionKey, BlobRef, StoreError};

use crate::standing::Standing;
use crate::{Outputs, RemoteBlob, RemoteError, seal};

/// Blobs up to this size are fetched as soon as an action is found: reports and interfaces, of which most are read.
const SMALL: u64 = 64 << 10;

/// But no more than this for one action.
const SMALL_IN_ALL: u64 = 1 << 20;

/// What an action made: the small blobs are in the store, and the remote has the others; `None` where it lacks one, or gave
/// wrong bytes.
///
/// # Errors
/// As of the remote and of the store; [`RemoteError::Wrong`] where bytes were wrong, [`RemoteError::Mismatched`] where the result is
/// not the action's.
pub fn action(standing: &Standing, action: &ActionKey) -> Result<Option<Outputs>, RemoteError> {
    let Some(outputs) = standing.remote.outputs(action)? else { return Ok(None) };
    let outputs = seal::broken(action, outputs)?;
    if outputs.iter().any(|(_, blob)| standing.is_distrusted(&blob.blob)) {
        return Ok(None);
    }
    let (small, large) = absent(standing, &outputs)?;
    let here = small.is_empty() || fetch_small(standing, &small)?;
    let there = large.is_empty() || standing.remote.missing(&large)?.is_empty();
    if !(here && there) {
        return Ok(None);
    }
    large.iter().for_each(|blob| standing.promise(blob));
    Ok(Some(outputs))
}

/// The blobs that the store lacks, the small ones apart.
fn absent(standing: &Standing, outputs: &Outputs) -> Result<(Vec<RemoteBlob>, Vec<RemoteBlob>), StoreError> {
    let (mut small, mut large, mut left) = (Vec::new(), Vec::new(), SMALL_IN_ALL);
    let distinct: BTreeSet<RemoteBlob> = outputs.iter().map(|(_, blob)| *blob).collect();
    for blob in distinct {
        if standing.store.contains(&blob.blob)? {
            continue;
        }
        match left.checked_sub(blob.blob.size) {
            Some(rest) if blob.blob.size <= SMALL => {
                left = rest;
                small.push(blob);
            }
            _ => large.push(blob),
        }
    }
    Ok((small, large))
}

/// Whether the remote had all of them.
fn fetch_small(standing: &Standing, blobs: &[RemoteBlob]) -> Result<bool, RemoteError> {
    let fetched = standing.remote.get_small(blobs)?;
    for (RemoteBlob { blob, .. }, bytes) in blobs.iter().zip(&fetched) {
        let Some(bytes) = bytes else { return Ok(false) };
        if BlobRef::of(bytes) != *blob {
            return Err(RemoteError::Wrong(blob.digest));
        }
        standing.store.put_named(blob, bytes)?;
    }
    Ok(fetched.len() == blobs.len())
}

/// Fetches a blob of any size.
///
/// # Errors
/// As of the remote and of the store; [`RemoteError::Wrong`] where bytes were wrong, as soon as there are too many.
pub fn blob(standing: &Standing, promised: &RemoteBlob) -> Result<(), RemoteError> {
    let blob = promised.blob;
    let (mut writer, mut left) = (standing.store.writer()?, blob.size);
    standing.remote.get(promised, &mut |bytes| {
        left = left.checked_sub(bytes.len() as u64).ok_or(RemoteError::Wrong(blob.digest))?;
        writer.append(bytes).map_err(|error| without_room(error, blob))
    })?;
    match writer.finish_as(&blob) {
        Err(StoreError::Corrupt { .. }) => Err(RemoteError::Wrong(blob.digest)),
        outcome => outcome.map_err(|error| without_room(error, blob)),
    }
}

/// A full disk is the remote's failure, since the size is the remote's word: the stage may make a smaller output here.
fn without_room(error: StoreError, blob: BlobRef) -> RemoteError {
    match error {
        StoreError::Full { .. } => {
            RemoteError::Refused(format!("there is no room for blob {} of {} bytes", blob.digest, blob.size))
        }
        other => other.into(),
    }
}
