//! The key that clients have to send.

use std::fs;

/// A key, without a printed form.
pub struct Key(Vec<u8>);

/// The prefix of a source that is an environment variable.
const VARIABLE: &str = "env:";

impl Key {
    /// Reads the key of a source, an environment variable or a file, without the white space around it. The error names the source.
    pub fn read(source: &str) -> Result<Self, String> {
        let text = match source.strip_prefix(VARIABLE) {
            Some(name) => std::env::var(name).map_err(|_| format!("--api-key: the variable {name} is not set"))?,
            None => fs::read_to_string(source).map_err(|error| format!("--api-key: {source}: {error}"))?,
        };
        match text.trim() {
            "" => Err(format!("--api-key: {source} is empty")),
            key => Ok(Self(key.as_bytes().to_vec())),
        }
    }

    /// Whether the value of the header `Authorization` has the key: in a time that does not depend on how much of the key is right.
    pub fn is_in(&self, authorization: &[u8]) -> bool {
        let Some((scheme, given)) = authorization.split_at_checked("Bearer ".len()) else { return false };
        let different = self.0.iter().zip(given).fold(0, |different, (own, given)| different | (own ^ given));
        scheme.eq_ignore_ascii_case(b"Bearer ") && given.len() == self.0.len() && different == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_key_is_right() {
        let key = Key(b"secret".to_vec());
        assert!(key.is_in(b"Bearer secret") && key.is_in(b"bearer secret"));
        for wrong in ["", "secret", "Bearer ", "Bearer secre", "Bearer secrets", "Bearer Secret", "Basic! secret"] {
            assert!(!key.is_in(wrong.as_bytes()), "{wrong}");
        }
    }

    #[test]
    fn a_source_without_a_key_is_an_error() {
        assert!(Key::read("env:ETBUILD_NO_SUCH_VARIABLE").is_err());
        assert!(Key::read("/dev/null").is_err_and(|problem| problem.contains("empty")));
        assert!(Key::read("/no/such/file").is_err());
    }
}
