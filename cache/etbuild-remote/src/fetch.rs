//! Downloads from a remote into the store. A blob is hashed before the store accepts the blob.

use std::collections::BTreeSet;

use etbuild_store::{ActionKey, BlobRef, StoreError};

use crate::standing::Standing;
use crate::{Outputs, RemoteBlob, RemoteError, seal};

/// Blobs up to this size are downloaded with the action result: reports and interfaces, which a build usually reads.
const SMALL: u64 = 64 << 10;

/// The limit of these downloads for one action, in bytes.
const SMALL_IN_ALL: u64 = 1 << 20;

/// The result of an action, with its small blobs stored locally; `None` if the remote lacks a blob or sent wrong bytes.
///
/// # Errors
/// Errors of the remote and of the store; [`RemoteError::Wrong`] for bytes with another digest,
/// [`RemoteError::Mismatched`] for the result of another action.
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

/// The blobs that the store lacks: small blobs and large blobs.
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

/// Downloads small blobs; `false` if the remote lacks a blob.
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

/// Downloads a blob of any size.
///
/// # Errors
/// Errors of the remote and of the store; [`RemoteError::Wrong`] for a wrong digest, or as soon as the bytes exceed the
/// size.
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

/// A full disk counts as a failure of the remote, because the remote states the size: a local run may make a smaller
/// output.
fn without_room(error: StoreError, blob: BlobRef) -> RemoteError {
    match error {
        StoreError::Full { .. } => {
            RemoteError::Refused(format!("no space left for blob {} of {} bytes", blob.digest, blob.size))
        }
        other => other.into(),
    }
}
