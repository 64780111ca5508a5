//! The bytes of constants: shared, never copied, identified by digest.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// From this many bytes on, hashing on all cores is faster than hashing on a single core.
const PARALLEL_FROM: usize = 1 << 19;

/// A 256-bit BLAKE3 digest.
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

/// The owner of the bytes of constants.
pub trait Buffer: Send + Sync {
    /// All bytes.
    fn bytes(&self) -> &[u8];

    /// Releases the memory of `part` where the next read restores the contents, as with mapped files.
    fn release(&self, _part: Range<usize>) {}
}

impl Buffer for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }
}

/// The elements of a constant: a slice of a shared buffer or mapped file.
#[derive(Clone)]
pub struct ConstantData {
    owner: Arc<dyn Buffer>,
    start: usize,
    len: usize,
    digest: Digest,
}

impl ConstantData {
    /// All bytes of `owner`.
    pub fn new(owner: impl Buffer + 'static) -> Self {
        let (len, digest) = (owner.bytes().len(), Digest::of(owner.bytes()));
        Self { owner: Arc::new(owner), start: 0, len, digest }
    }

    /// Bytes `start..start + len` of `owner`; `None` where `owner` is shorter.
    pub fn part_of(owner: Arc<dyn Buffer>, start: usize, len: usize) -> Option<Self> {
        let part = start..start.checked_add(len)?;
        let digest = Digest::of(owner.bytes().get(part.clone())?);
        owner.release(part);
        Some(Self { owner, start, len, digest })
    }

    /// Bytes `start..start + len` of these; `None` beyond their end.
    pub fn part(&self, start: usize, len: usize) -> Option<Self> {
        let digest = Digest::of(self.bytes().get(start..start.checked_add(len)?)?);
        Some(Self { owner: self.owner.clone(), start: self.start + start, len, digest })
    }

    /// Bytes with a known digest, from a store that checks digests.
    pub fn verified(owner: impl Buffer + 'static, digest: Digest) -> Self {
        let len = owner.bytes().len();
        Self { owner: Arc::new(owner), start: 0, len, digest }
    }

    /// Bytes `start..start + len` of `owner`, with a known digest; `None` where `owner` is shorter.
    pub fn verified_part(owner: impl Buffer + 'static, start: usize, len: usize, digest: Digest) -> Option<Self> {
        let end = start.checked_add(len)?;
        (end <= owner.bytes().len()).then(|| Self { owner: Arc::new(owner), start, len, digest })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        self.owner.bytes().get(self.start..self.start + self.len).unwrap_or_default()
    }

    /// Releases the memory of the bytes where the next read restores the contents. For constants that have been read
    /// to compute derived constants.
    pub fn release(&self) {
        self.owner.release(self.start..self.start + self.len);
    }

    /// A unique name for a constant derived from the constant `name`: the name with a part of the digest.
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
