//! Batched requests: several blobs in one message.

use std::collections::{BTreeMap, BTreeSet};

use bazel_remote_apis::build::bazel::remote::execution::v2::content_addressable_storage_client::ContentAddressableStorageClient;
use bazel_remote_apis::build::bazel::remote::execution::v2::{
    BatchReadBlobsRequest, BatchUpdateBlobsRequest, Digest as Message, FindMissingBlobsRequest,
    batch_update_blobs_request,
};
use tonic::{Code, Status};

use super::capabilities::Capabilities;
use super::connection::{Connection, Line};
use super::wire::{Function, Load, WireDigest};
use super::{retry, stream};
use crate::RemoteError;

/// The number of digests in one query for missing blobs.
const PAGE: usize = 4096;

/// The upper bound of a blob's overhead in a message, in bytes.
const OVERHEAD: u64 = 256;

fn client(connection: &Connection) -> ContentAddressableStorageClient<Line> {
    ContentAddressableStorageClient::new(connection.line())
}

/// The hashes of the blobs that the server lacks.
pub async fn missing(
    connection: &Connection,
    function: Function,
    digests: &[WireDigest],
) -> Result<BTreeSet<String>, RemoteError> {
    let mut missing = BTreeSet::new();
    for page in digests.chunks(PAGE) {
        let request = FindMissingBlobsRequest {
            instance_name: connection.instance().to_owned(),
            blob_digests: page.iter().map(Message::from).collect(),
            digest_function: function.number(),
        };
        let call = async || client(connection).find_missing_blobs(request.clone()).await;
        let answer = retry::persistently(connection.patience(), call).await.map_err(|status| retry::error(&status))?;
        missing.extend(answer.into_inner().missing_blob_digests.into_iter().map(|digest| digest.hash));
    }
    Ok(missing)
}

/// The bytes of blobs below the batch size; larger blobs are skipped.
pub async fn read(
    connection: &Connection,
    capabilities: &Capabilities,
    digests: &[WireDigest],
) -> Result<Vec<Option<Vec<u8>>>, RemoteError> {
    let mut found = BTreeMap::new();
    for batch in batches(digests, capabilities.batch, |digest| digest.size) {
        let request = BatchReadBlobsRequest {
            instance_name: connection.instance().to_owned(),
            digests: batch.iter().map(Message::from).collect(),
            acceptable_compressors: Vec::new(),
            digest_function: capabilities.function.number(),
        };
        let call = async || client(connection).batch_read_blobs(request.clone()).await;
        let answer = retry::persistently(connection.patience(), call).await.map_err(|status| retry::error(&status))?;
        let whole = answer.into_inner().responses.into_iter();
        let whole = whole.filter(|response| response.status.as_ref().is_none_or(|status| status.code == 0));
        found.extend(whole.filter_map(|response| Some((response.digest?.hash, response.data))));
    }
    Ok(digests.iter().map(|digest| found.get(&digest.hash).cloned()).collect())
}

/// Uploads the blobs that the server lacks: small blobs in batches, large blobs and blobs refused in a batch as
/// streams.
pub async fn write(connection: &Connection, capabilities: &Capabilities, loads: &[Load]) -> Result<(), RemoteError> {
    let (small, large): (Vec<&Load>, Vec<&Load>) =
        loads.iter().partition(|load| load.digest.size + OVERHEAD <= capabilities.batch);
    let small: Vec<Load> = small.into_iter().cloned().collect();
    let mut alone: Vec<Load> = large.into_iter().cloned().collect();
    for batch in batches(&small, capabilities.batch, |load| load.digest.size) {
        let refused = update(connection, capabilities.function, batch).await?;
        alone.extend(batch.iter().filter(|load| refused.contains(&load.digest.hash)).cloned());
    }
    for load in &alone {
        stream::write(connection, capabilities.function, load).await?;
    }
    Ok(())
}

/// Sends a batch, and returns the hashes of the blobs that were refused.
async fn update(connection: &Connection, function: Function, batch: &[Load]) -> Result<BTreeSet<String>, RemoteError> {
    let entry = |load: &Load| batch_update_blobs_request::Request {
        digest: Some(Message::from(&load.digest)),
        data: (*load.bytes).as_ref().to_vec(),
        compressor: 0,
    };
    let request = BatchUpdateBlobsRequest {
        instance_name: connection.instance().to_owned(),
        requests: batch.iter().map(entry).collect(),
        digest_function: function.number(),
    };
    let call = async || client(connection).batch_update_blobs(request.clone()).await;
    match retry::persistently(connection.patience(), call).await {
        Ok(answer) => {
            let refused = answer.into_inner().responses.into_iter();
            let refused = refused.filter(|response| response.status.as_ref().is_some_and(|status| status.code != 0));
            Ok(refused.filter_map(|response| Some(response.digest?.hash)).collect())
        }
        Err(status) if is_about_the_batch(&status) => Ok(batch.iter().map(|load| load.digest.hash.clone()).collect()),
        Err(status) => Err(retry::error(&status)),
    }
}

/// Whether the error concerns the batch, so that single uploads may succeed.
fn is_about_the_batch(status: &Status) -> bool {
    matches!(status.code(), Code::InvalidArgument | Code::Unimplemented | Code::OutOfRange)
}

/// Splits the items into runs that fit into one message. An item above the limit is left out.
fn batches<T>(items: &[T], limit: u64, size: impl Fn(&T) -> u64) -> Vec<&[T]> {
    let (mut batches, mut start, mut filled) = (Vec::new(), 0, 0);
    for (index, item) in items.iter().enumerate() {
        let bytes = size(item) + OVERHEAD;
        if filled + bytes > limit || bytes > limit {
            batches.extend(items.get(start..index));
            (start, filled) = (if bytes > limit { index + 1 } else { index }, 0);
        }
        filled += if bytes > limit { 0 } else { bytes };
    }
    batches.extend(items.get(start..));
    batches.retain(|batch| !batch.is_empty());
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_keep_to_the_limit_and_to_the_order() {
        let sizes = [100, 500, 10_000, 200, 300, 300];
        let batches = batches(&sizes, 1200, |size| *size);
        assert_eq!(batches, [&[100, 500][..], &[200, 300], &[300]]);
        assert!(super::batches(&[1u64, 2], 10, |size| *size).is_empty());
    }
}
