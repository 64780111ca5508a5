//! BLAKE3 digests: the only names that bytes have in the store.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// From this many bytes on, hashing on every core is worth waking the threads for.
const PARALLEL_FROM: usize = 1 << 20;

/// The BLAKE3 digest of some bytes. Prints, parses and serializes as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(bytes);
        hasher.finish()
    }
}

/// A digest of bytes that arrive in pieces.
#[derive(Clone, Debug, Default)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    /// Appends `bytes`; large pieces are hashed on every core.
    pub fn update(&mut self, bytes: &[u8]) {
        if bytes.len() < PARALLEL_FROM {
            self.0.update(bytes);
        } else {
            self.0.update_rayon(bytes);
        }
    }

    /// The digest of all bytes appended so far.
    pub fn finish(&self) -> Digest {
        Digest(*self.0.finalize().as_bytes())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Digest({self})")
    }
}

/// The text is not 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 lower-case hexadecimal digits")]
pub struct ParseDigestError;

impl FromStr for Digest {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, ParseDigestError> {
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let bytes = pairs.iter().map(|[high, low]| Some(nibble(*high)? << 4 | nibble(*low)?));
        let bytes: Vec<u8> = bytes.collect::<Option<_>>().filter(|_| rest.is_empty()).ok_or(ParseDigestError)?;
        bytes.try_into().map(Digest).map_err(|_| ParseDigestError)
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The empty input's digest, from the BLAKE3 paper's test vectors.
    const EMPTY: &str = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";

    #[test]
    fn the_digest_of_an_empty_blob_is_the_published_digest() {
        assert_eq!(Digest::of(b"").to_string(), EMPTY);
    }

    #[test]
    fn text_and_digest_are_two_ways_of_the_same_thing() {
        let digest = Digest::of(b"some bytes");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        let json = serde_json::to_string(&digest).unwrap();
        assert_eq!(json, format!("\"{digest}\""));
        assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
    }

    #[test]
    fn only_64_lower_case_digits_parse() {
        for wrong in [&EMPTY[1..], &EMPTY[2..], &EMPTY.to_uppercase(), &EMPTY.replace('a', "g"), &EMPTY.repeat(2), ""] {
            assert_eq!(wrong.parse::<Digest>(), Err(ParseDigestError), "{wrong}");
        }
    }

    #[test]
    fn pieces_hash_as_the_whole_on_one_core_and_on_many() {
        let bytes: Vec<u8> = (0..3 * PARALLEL_FROM).map(|position| (position / 7) as u8).collect();
        let mut hasher = Hasher::default();
        bytes.chunks(1000).for_each(|piece| hasher.update(piece));
        assert_eq!(hasher.finish(), Digest::of(&bytes));
    }
}
