//! Text in a program file.
#![allow(unsafe_code)] // `core::str::from_utf8` takes half a kilobyte of flash; ASCII is checked in a few instructions.

use crate::{Error, Result};

/// Reads ASCII text, the only text that operators accept; other bytes are not supported.
pub fn ascii(bytes: &[u8]) -> Result<&str> {
    if bytes.iter().any(|byte| *byte >= 0x80) {
        return Err(Error::NotSupported);
    }
    // SAFETY: ASCII is UTF-8.
    Ok(unsafe { core::str::from_utf8_unchecked(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ascii_is_text() {
        assert_eq!(ascii(b"mean"), Ok("mean"));
        assert_eq!(ascii("\u{e9}".as_bytes()), Err(Error::NotSupported));
    }
}
