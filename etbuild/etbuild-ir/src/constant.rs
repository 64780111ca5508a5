//! The bytes of constants: shared, never copied, named by their digest.

use std::fmt;
use std::sync::Arc;

/// From this many bytes on, hashing on every core is worth waking the threads for.
const PARALLEL_FROM: usize = 1 << 19;

/// A 256-bit BLAKE3 of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        if bytes.len() < PARALLEL_FROM {
            return Self(*blake3::hash(bytes).as_bytes());
        }
        Self(*blake3::Hasher::new().update_rayon(bytes).finalize().as_bytes())
    }

    /// Reads 64 hexadecimal digits.
    pub fn parse(hex: &str) -> Option<Self> {
        blake3::Hash::from_hex(hex).ok().map(|hash| Self(*hash.as_bytes()))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// The elements of a constant: a part of some buffer or mapped file that is kept alive.
#[derive(Clone)]
pub struct ConstantData {
    owner: Arc<dyn AsRef<[u8]> + Send + Sync>,
    start: usize,
    len: usize,
    digest: Digest,
}

impl ConstantData {
    /// All bytes of `owner`.
    pub fn new(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let len = owner.as_ref().len();
        let digest = Digest::of(owner.as_ref());
        Self { owner: Arc::new(owner), start: 0, len, digest }
    }

    /// Bytes `start..start + len` of `owner`; `None` where it is shorter.
    pub fn part_of(owner: Arc<dyn AsRef<[u8]> + Send + Sync>, start: usize, len: usize) -> Option<Self> {
        let bytes = (*owner).as_ref().get(start..start.checked_add(len)?)?;
        let digest = Digest::of(bytes);
        Some(Self { owner, start, len, digest })
    }

    /// Bytes whose digest the caller knows, because they come from a store that checks them.
    pub fn verified(owner: impl AsRef<[u8]> + Send + Sync + 'static, digest: Digest) -> Self {
        let len = owner.as_ref().len();
        Self { owner: Arc::new(owner), start: 0, len, digest }
    }

    /// Bytes `start..start + len` of `owner`, whose digest the caller knows; `None` where it is shorter.
    pub fn verified_part(
        owner: impl AsRef<[u8]> + Send + Sync + 'static,
        start: usize,
        len: usize,
        digest: Digest,
    ) -> Option<Self> {
        let end = start.checked_add(len)?;
        (end <= owner.as_ref().len()).then(|| Self { owner: Arc::new(owner), start, len, digest })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        (*self.owner).as_ref().get(self.start..self.start + self.len).unwrap_or_default()
    }

    /// A name of its own for a constant that is made from those of `name`: no other elements have it.
    pub fn distinct_name(&self, name: &str) -> String {
        let digest = self.digest.to_string();
        format!("{name}@{}", digest.get(..16).unwrap_or_default())
    }

    /// The digest of the bytes.
    pub const fn digest(&self) -> Digest {
        self.digest
    }
}

impl PartialEq for ConstantData {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for ConstantData {}

impl fmt::Debug for ConstantData {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} bytes b3:{}", self.len, self.digest)
    }
}
