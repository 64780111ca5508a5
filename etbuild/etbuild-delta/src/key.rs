//! Keys of signatures, as people store keys.

use std::path::Path;

use et_update::{PublicKey, SecretKey};

use crate::Error;

/// The secret key in a PEM file, as `openssl genpkey -algorithm ed25519` writes one.
///
/// # Errors
/// [`Error::File`], and [`Error::Key`] for another file.
pub fn secret_key(path: &Path) -> Result<SecretKey, Error> {
    let text = std::fs::read_to_string(path).map_err(Error::at(path))?;
    let wrong = |_| Error::Key(format!("`{}` is no secret key of Ed25519 in PEM form", path.display()));
    ed25519_compact::SecretKey::from_pem(&text).map(|key| SecretKey(*key.seed())).map_err(wrong)
}

/// The public key of 64 hexadecimal digits.
///
/// # Errors
/// [`Error::Key`] for another text.
pub fn public_key(text: &str) -> Result<PublicKey, Error> {
    let key = blake3::Hash::from_hex(text).map(|bytes| PublicKey(*bytes.as_bytes()));
    key.map_err(|_| Error::Key(format!("`{text}` is no public key of 64 hexadecimal digits")))
}
