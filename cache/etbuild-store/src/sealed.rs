//! Small records as bytes: a version, a checksum, and the value in postcard's encoding.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Digest, StoreError};

/// The version of the values' encoding. Another version's records are left alone.
const VERSION: u8 = 1;

/// Length of the prefix before the value: the version and the checksum.
const HEADER: usize = 1 + 32;

/// Why bytes did not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// The bytes are whole, but another version of etbuild wrote the bytes.
    OtherVersion,
    /// The bytes are torn or garbled.
    Damaged,
}

/// Encodes `value` so that any change of the bytes is noticed.
pub(crate) fn seal<T: Serialize>(value: &T) -> Result<Vec<u8>, StoreError> {
    let payload = postcard::to_stdvec(value)?;
    let mut bytes = vec![VERSION];
    bytes.extend(checksum(VERSION, &payload).0);
    bytes.extend(payload);
    Ok(bytes)
}

/// The value that [`seal`] encoded.
pub(crate) fn unseal<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unreadable> {
    let (header, payload) = bytes.split_first_chunk::<HEADER>().ok_or(Unreadable::Damaged)?;
    let [version, stated @ ..] = header;
    if checksum(*version, payload) != Digest(*stated) {
        return Err(Unreadable::Damaged);
    }
    if *version != VERSION {
        return Err(Unreadable::OtherVersion);
    }
    postcard::from_bytes(payload).map_err(|_| Unreadable::Damaged)
}

fn checksum(version: u8, payload: &[u8]) -> Digest {
    Digest::of(&[&[version], payload].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed() -> Vec<u8> {
        seal(&("name", 5u32)).unwrap()
    }

    #[test]
    fn a_sealed_value_opens() {
        assert_eq!(unseal(&sealed()), Ok(("name".to_owned(), 5u32)));
    }

    #[test]
    fn every_truncation_and_every_flipped_bit_is_damage() {
        let whole = sealed();
        for length in 0..whole.len() {
            assert_eq!(unseal::<(String, u32)>(&whole[..length]), Err(Unreadable::Damaged));
        }
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(unseal::<(String, u32)>(&flipped), Err(Unreadable::Damaged));
        }
    }

    #[test]
    fn a_whole_record_of_another_version_is_not_damage() {
        let mut other = vec![VERSION + 1];
        other.extend(checksum(VERSION + 1, b"whatever").0);
        other.extend(b"whatever");
        assert_eq!(unseal::<u8>(&other), Err(Unreadable::OtherVersion));
    }
}
