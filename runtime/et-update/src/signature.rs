//! Signatures of deltas and bundles: Ed25519 over the digest of the header, which states the digests of everything else.

use std::fmt;

use blake3::Hash;

use crate::{Error, Kind};

/// A key that checks signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(pub [u8; 32]);

/// 64 hexadecimal digits.
impl fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hash::from_bytes(self.0).fmt(formatter)
    }
}

/// A key that signs: the 32 bytes of the seed.
#[derive(Clone)]
pub struct SecretKey(pub [u8; 32]);

/// A signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature(pub [u8; 64]);

/// Signs a header, known by its digest. Equal keys and headers have equal signatures.
pub fn sign(key: &SecretKey, kind: Kind, header: Hash) -> Signature {
    let pair = ed25519_compact::KeyPair::from_seed(ed25519_compact::Seed::new(key.0));
    Signature(*pair.sk.sign(message(kind, header), None))
}

impl SecretKey {
    /// The key that checks signatures of this key.
    pub fn public(&self) -> PublicKey {
        PublicKey(*ed25519_compact::KeyPair::from_seed(ed25519_compact::Seed::new(self.0)).pk)
    }
}

/// Checks the signature of a header.
///
/// # Errors
/// [`Error::Unsigned`] or [`Error::WrongSignature`].
pub(crate) fn check(key: &PublicKey, kind: Kind, header: Hash, signature: Option<&Signature>) -> Result<(), Error> {
    let signature = ed25519_compact::Signature::new(signature.ok_or(Error::Unsigned)?.0);
    let verified = ed25519_compact::PublicKey::new(key.0).verify(message(kind, header), &signature);
    verified.map_err(|_| Error::WrongSignature)
}

/// The signed bytes.
fn message(kind: Kind, header: Hash) -> Vec<u8> {
    [kind.words(), header.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_a_key_a_kind_and_a_header() {
        let (key, other) = (SecretKey([7; 32]), SecretKey([8; 32]));
        let header = blake3::hash(b"header");
        let signature = sign(&key, Kind::Update, header);
        assert_eq!(signature, sign(&key, Kind::Update, header));
        assert!(check(&key.public(), Kind::Update, header, Some(&signature)).is_ok());
        let wrong = |result| matches!(result, Err(Error::WrongSignature));
        assert!(wrong(check(&other.public(), Kind::Update, header, Some(&signature))));
        assert!(wrong(check(&key.public(), Kind::Update, blake3::hash(b"other"), Some(&signature))));
        assert!(wrong(check(&key.public(), Kind::Bundle, header, Some(&signature))));
        assert!(matches!(check(&key.public(), Kind::Update, header, None), Err(Error::Unsigned)));
    }
}
