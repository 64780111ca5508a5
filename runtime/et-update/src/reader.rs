//! Values of a header, read from bytes that nobody has checked.

use blake3::Hash;

use crate::Error;
use crate::change::Version;

/// The bytes that are left.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Error::Malformed("the header ends early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.bytes(N)?.first_chunk().copied().ok_or(Error::Malformed("the header ends early"))
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Error> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn flag(&mut self) -> Result<bool, Error> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Error::Malformed("a flag is neither 0 nor 1")),
        }
    }

    pub(crate) fn word(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn long(&mut self) -> Result<u64, Error> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn hash(&mut self) -> Result<Hash, Error> {
        self.array().map(Hash::from_bytes)
    }

    pub(crate) fn version(&mut self) -> Result<Version, Error> {
        Ok(Version { size: self.long()?, digest: self.hash()? })
    }

    /// A list behind its length.
    pub(crate) fn list<T>(&mut self, one: impl Fn(&mut Self) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        let count = self.word()?;
        (0..count).map(|_| one(self)).collect()
    }

    /// Checks that no bytes are left.
    pub(crate) fn end(&self) -> Result<(), Error> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::Malformed("bytes follow the header")) }
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Error> {
        let length = self.byte()?;
        let bytes = self.bytes(length.into())?;
        std::str::from_utf8(bytes).map_err(|_| Error::Malformed("a name is not UTF-8"))
    }
}
