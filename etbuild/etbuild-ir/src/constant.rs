//! The bytes of constants: shared, never copied, named by their digest.

use std::fmt;
use std::ops::Range;
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

/// What holds the bytes of constants.
pub trait Buffer: Send + Sync {
    /// All bytes.
    fn bytes(&self) -> &[u8];

    /// Lets go of the memory behind `part` where the next read brings it back, as it does for a mapped file.
    fn release(&self, _part: Range<usize>) {}
}

impl Buffer for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }
}

/// The elements of a constant: a part of some buffer or mapped file that is kept alive.
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

    /// Bytes `start..start + len` of `owner`; `None` where it is shorter.
    pub fn part_of(owner: Arc<dyn Buffer>, start: usize, len: usize) -> Option<Self> {
        let part = start..start.checked_add(len)?;
        let digest = Digest::of(owner.bytes().get(part.clone())?);
        owner.release(part);
        Some(Self { owner, start, len, digest })
    }

    /// Bytes whose digest the caller knows, because they come from a store that checks them.
    pub fn verified(owner: impl Buffer + 'static, digest: Digest) -> Self {
        let len = owner.bytes().len();
        Self { owner: Arc::new(owner), start: 0, len, digest }
    }

    /// Bytes `start..start + len` of `owner`, whose digest the caller knows; `None` where it is shorter.
    pub fn verified_part(owner: impl Buffer + 'static, start: usize, len: usize, digest: Digest) -> Option<Self> {
        let end = start.checked_add(len)?;
        (end <= owner.bytes().len()).then(|| Self { owner: Arc::new(owner), start, len, digest })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        self.owner.bytes().get(self.start..self.start + self.len).unwrap_or_default()
    }

    /// Lets go of the memory behind the bytes where the next read brings it back: for constants that were read to make
    /// others of them.
    pub fn release(&self) {
        self.owner.release(self.start..self.start + self.len);
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
