//! Transfer of a blob as a stream of messages.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use bazel_remote_apis::google::bytestream::byte_stream_client::ByteStreamClient;
use bazel_remote_apis::google::bytestream::{ReadRequest, WriteRequest};
use etbuild_store::Digest;
use tonic::{Code, Status};

use super::connection::Connection;
use super::retry;
use super::wire::{self, Function, Load};
use crate::RemoteError;

/// The payload of a message in bytes.
const PIECE: usize = 1 << 19;

/// A server that takes or gives fewer bytes in a second counts as silent.
const SLOWEST: u64 = 1 << 17;

/// Why a stream ended early.
enum Broken {
    Status(Status),
    Taker(RemoteError),
}

/// Downloads a blob. After a broken stream the download resumes at the received length.
pub async fn read(
    connection: &Connection,
    resource: &str,
    blob: Digest,
    take: &mut dyn FnMut(&[u8]) -> Result<(), RemoteError>,
) -> Result<(), RemoteError> {
    let mut offset = 0;
    for attempt in 1.. {
        match read_from(connection, resource, &mut offset, take).await {
            Ok(()) => break,
            Err(Broken::Taker(error)) => return Err(error),
            Err(Broken::Status(status)) if status.code() == Code::NotFound => return Err(RemoteError::Gone(blob)),
            Err(Broken::Status(status)) if attempt < retry::ATTEMPTS && retry::may_pass(&status) => {
                retry::pause(attempt).await;
            }
            Err(Broken::Status(status)) => return Err(retry::error(&status)),
        }
    }
    Ok(())
}

async fn read_from(
    connection: &Connection,
    resource: &str,
    offset: &mut i64,
    take: &mut dyn FnMut(&[u8]) -> Result<(), RemoteError>,
) -> Result<(), Broken> {
    let mut client = ByteStreamClient::new(connection.line());
    let request = ReadRequest { resource_name: resource.to_owned(), read_offset: *offset, read_limit: 0 };
    let stream = retry::within(connection.patience(), client.read(request)).await.map_err(Broken::Status)?;
    let (mut stream, start, mut read) = (stream.into_inner(), Instant::now(), 0);
    while let Some(piece) = retry::within(connection.patience(), stream.message()).await.map_err(Broken::Status)? {
        take(&piece.data).map_err(Broken::Taker)?;
        *offset += i64::try_from(piece.data.len()).unwrap_or(i64::MAX);
        read += piece.data.len() as u64;
        if is_too_slow(start.elapsed(), read, connection.patience()) {
            let problem = format!("fewer than {SLOWEST} bytes in a second");
            return Err(Broken::Status(Status::cancelled(problem)));
        }
    }
    Ok(())
}

/// Whether a stream gave too few bytes in this time. Empty messages break a silence, but bring no blob.
fn is_too_slow(elapsed: Duration, bytes: u64, patience: Duration) -> bool {
    elapsed > patience + Duration::from_secs(bytes / SLOWEST)
}

/// Uploads a blob; a retry starts at the beginning.
pub async fn write(connection: &Connection, function: Function, load: &Load) -> Result<(), RemoteError> {
    let limit = connection.patience() + Duration::from_secs(load.digest.size / SLOWEST);
    let sent = retry::persistently(limit, async || {
        let resource = wire::write_name(connection.instance(), &upload(), function, &load.digest);
        let pieces = tokio_stream::iter(Pieces { load: load.clone(), resource, offset: 0, ended: false });
        ByteStreamClient::new(connection.line()).write(pieces).await
    });
    let committed = match sent.await {
        Ok(answer) => answer.into_inner().committed_size,
        Err(status) if status.code() == Code::AlreadyExists => return Ok(()),
        Err(status) => return Err(retry::error(&status)),
    };
    // A server that has the blob already may answer with its size, or with -1.
    let whole = committed == -1 || u64::try_from(committed).is_ok_and(|committed| committed == load.digest.size);
    if whole {
        Ok(())
    } else {
        Err(RemoteError::Refused(format!("the server stored {committed} of {} bytes", load.digest.size)))
    }
}

/// A random upload name in the form of a UUID.
fn upload() -> String {
    let [high, low] = [0, 1].map(|part: u8| RandomState::new().hash_one((std::process::id(), part)));
    let digits = format!("{high:016x}{low:016x}");
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    format!("{}-{}-4{}-a{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

/// The messages that carry a blob.
struct Pieces {
    load: Load,
    resource: String,
    offset: usize,
    ended: bool,
}

impl Iterator for Pieces {
    type Item = WriteRequest;

    fn next(&mut self) -> Option<WriteRequest> {
        if self.ended {
            return None;
        }
        let bytes = (*self.load.bytes).as_ref();
        let end = bytes.len().min(self.offset + PIECE);
        let start = std::mem::replace(&mut self.offset, end);
        self.ended = end == bytes.len();
        Some(WriteRequest {
            // Only the first message needs the resource name.
            resource_name: if start == 0 { self.resource.clone() } else { String::new() },
            write_offset: i64::try_from(start).unwrap_or(i64::MAX),
            finish_write: self.ended,
            data: bytes.get(start..end).unwrap_or_default().to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn pieces(length: usize) -> Vec<WriteRequest> {
        let bytes = vec![7; length];
        let load = Load { digest: Function::Sha256.digest(&bytes), bytes: Arc::new(bytes) };
        Pieces { load, resource: "name".to_owned(), offset: 0, ended: false }.collect()
    }

    #[test]
    fn the_pieces_make_up_the_blob_and_the_last_says_so() {
        for length in [0, 1, PIECE, PIECE + 1, 3 * PIECE] {
            let pieces = pieces(length);
            assert_eq!(pieces.iter().map(|piece| piece.data.len()).sum::<usize>(), length);
            assert_eq!(pieces.iter().filter(|piece| piece.finish_write).count(), 1, "{length}");
            assert!(pieces.last().is_some_and(|piece| piece.finish_write));
            assert_eq!(pieces[0].resource_name, "name");
        }
    }

    #[test]
    fn a_stream_that_trickles_is_too_slow() {
        let seconds = Duration::from_secs;
        assert!(is_too_slow(seconds(4), 100, seconds(3)));
        assert!(!is_too_slow(seconds(2), 0, seconds(3)));
        assert!(!is_too_slow(seconds(12), 10 * SLOWEST, seconds(3)));
    }

    #[test]
    fn uploads_have_names_of_their_own() {
        let (one, other) = (upload(), upload());
        assert!(one != other && one.len() == 36 && one.as_bytes()[14] == b'4', "{one} {other}");
    }
}
