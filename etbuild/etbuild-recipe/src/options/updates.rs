//! `updates:`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer};

/// The word for updates without a signature.
const UNSIGNED: &str = "unsigned";
/// The bytes of a public key of Ed25519.
const KEY_SIZE: usize = 32;

/// The updates that a hosted binary takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Updates {
    /// All updates.
    Unsigned,
    /// Updates with a signature that this public key of Ed25519 verifies.
    Signed([u8; KEY_SIZE]),
}

impl Updates {
    /// The public key; `None` for unsigned updates.
    pub const fn key(self) -> Option<[u8; KEY_SIZE]> {
        match self {
            Self::Unsigned => None,
            Self::Signed(key) => Some(key),
        }
    }

    fn of(text: &str) -> Option<Self> {
        if text == UNSIGNED {
            return Some(Self::Unsigned);
        }
        let mut key = [0; KEY_SIZE];
        let has_digits = text.len() == 2 * KEY_SIZE && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        for (byte, at) in key.iter_mut().zip((0..).step_by(2)) {
            *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
        }
        has_digits.then_some(Self::Signed(key))
    }
}

impl<'de> Deserialize<'de> for Updates {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::of(&text).ok_or_else(|| {
            de::Error::custom(format!("`{text}` is neither `{UNSIGNED}` nor a public key of 64 hexadecimal digits"))
        })
    }
}

impl JsonSchema for Updates {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Updates".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^(unsigned|[0-9A-Fa-f]{64}|.*\\$\\{.*\\}.*)$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_are_unsigned_or_have_a_key() {
        assert_eq!(Updates::of("unsigned"), Some(Updates::Unsigned));
        assert_eq!(Updates::of(&"0f".repeat(32)).and_then(Updates::key), Some([15; 32]));
        for wrong in ["", "signed", "0f", &"0g".repeat(32), &"+f".repeat(32), &"é".repeat(32)] {
            assert_eq!(Updates::of(wrong), None, "{wrong}");
        }
    }
}
