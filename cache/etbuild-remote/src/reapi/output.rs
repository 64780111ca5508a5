//! Files that jobs wrote.

use bazel_remote_apis::build::bazel::remote::execution::v2::Digest as Message;
use etbuild_store::Digest;

use super::capabilities::Capabilities;
use super::connection::Connection;
use super::stream;
use super::wire::{self, WireDigest};
use crate::RemoteError;

/// A binary is smaller.
const LARGEST: u64 = 4 << 30;

/// The bytes of an output, inline or by digest. Bytes with another digest are an error.
pub async fn read(
    connection: &Connection,
    capabilities: &Capabilities,
    named: Option<&Message>,
    held: Vec<u8>,
) -> Result<Vec<u8>, RemoteError> {
    let Some(named) = named else { return Ok(held) };
    let size = u64::try_from(named.size_bytes).ok().filter(|size| *size <= LARGEST).ok_or_else(wrong)?;
    let named = WireDigest { hash: named.hash.clone(), size };
    let bytes = if held.is_empty() && size > 0 { fetch(connection, capabilities, &named).await? } else { held };
    if capabilities.function.digest(&bytes) == named { Ok(bytes) } else { Err(wrong()) }
}

async fn fetch(
    connection: &Connection,
    capabilities: &Capabilities,
    named: &WireDigest,
) -> Result<Vec<u8>, RemoteError> {
    let name: Digest = named.hash.parse().map_err(|_| wrong())?;
    let resource = wire::read_name(connection.instance(), capabilities.function, named);
    let mut bytes = Vec::new();
    let mut take = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        if bytes.len() as u64 <= named.size { Ok(()) } else { Err(wrong()) }
    };
    stream::read(connection, &resource, name, &mut take).await?;
    Ok(bytes)
}

fn wrong() -> RemoteError {
    RemoteError::Refused("the server sent bytes with a wrong digest for a job's result".to_owned())
}
