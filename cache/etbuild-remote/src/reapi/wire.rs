//! How the protocol writes digests.

use std::sync::Arc;

use bazel_remote_apis::build::bazel::remote::execution::v2::{Digest as Message, digest_function};
use etbuild_store::Digest;

use crate::{RemoteBlob, RemoteError, names};

/// The function that a server names blobs by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Ours.
    Blake3,
    /// The digest function of all known servers.
    Sha256,
}

/// A digest in the protocol's form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WireDigest {
    /// Hexadecimal digits.
    pub hash: String,
    /// The number of bytes.
    pub size: u64,
}

/// Bytes that are to be sent.
#[derive(Clone)]
pub struct Load {
    /// Their name.
    pub digest: WireDigest,
    /// The bytes.
    pub bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
}

impl Function {
    /// The function's number in the protocol.
    pub fn number(self) -> i32 {
        match self {
            Self::Blake3 => digest_function::Value::Blake3 as i32,
            Self::Sha256 => digest_function::Value::Sha256 as i32,
        }
    }

    /// Whether the function is SHA-256.
    pub fn is_sha256(self) -> bool {
        self == Self::Sha256
    }

    /// The digest of bytes.
    pub fn digest(self, bytes: &[u8]) -> WireDigest {
        let hash = match self {
            Self::Blake3 => Digest::of(bytes),
            Self::Sha256 => Digest(names::of(bytes)),
        };
        WireDigest { hash: hash.to_string(), size: bytes.len() as u64 }
    }

    /// The name of a blob.
    pub fn of(self, blob: &RemoteBlob) -> Result<WireDigest, RemoteError> {
        let hash = match self {
            Self::Blake3 => Some(blob.blob.digest),
            Self::Sha256 => blob.sha256.map(Digest),
        };
        let hash = hash.ok_or_else(|| RemoteError::Refused("a blob has no SHA-256 digest".to_owned()))?;
        Ok(WireDigest { hash: hash.to_string(), size: blob.blob.size })
    }
}

impl From<&WireDigest> for Message {
    fn from(digest: &WireDigest) -> Self {
        Self { hash: digest.hash.clone(), size_bytes: i64::try_from(digest.size).unwrap_or(i64::MAX) }
    }
}

/// The resource name of a download.
pub fn read_name(instance: &str, function: Function, digest: &WireDigest) -> String {
    format!("{}blobs/{}", prefix(instance), path(function, digest))
}

/// The resource name of an upload. `upload` is a fresh UUID for each upload.
pub fn write_name(instance: &str, upload: &str, function: Function, digest: &WireDigest) -> String {
    format!("{}uploads/{upload}/blobs/{}", prefix(instance), path(function, digest))
}

fn prefix(instance: &str) -> String {
    if instance.is_empty() { String::new() } else { format!("{instance}/") }
}

/// The path of a digest in a resource name: the function's name is required for newer functions and forbidden for
/// SHA-256.
fn path(function: Function, WireDigest { hash, size }: &WireDigest) -> String {
    match function {
        Function::Blake3 => format!("blake3/{hash}/{size}"),
        Function::Sha256 => format!("{hash}/{size}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_names_are_those_of_the_protocol() {
        let digest = WireDigest { hash: "ab".to_owned(), size: 3 };
        assert_eq!(read_name("", Function::Sha256, &digest), "blobs/ab/3");
        assert_eq!(read_name("team/main", Function::Blake3, &digest), "team/main/blobs/blake3/ab/3");
        assert_eq!(write_name("main", "id", Function::Sha256, &digest), "main/uploads/id/blobs/ab/3");
    }

    #[test]
    fn the_digest_of_an_empty_blob_is_the_published_digest() {
        let sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Function::Sha256.digest(b""), WireDigest { hash: sha256.to_owned(), size: 0 });
    }
}
