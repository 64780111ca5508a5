//! A validated name: safe as a file name, a compiler flag's value and a word of a linker script.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::{self, Deserialize, Deserializer};

/// Longest name, in bytes.
const LONGEST: usize = 64;

/// A name of letters, digits, `-`, `_` and `.` that begins with a letter or digit; at most 64 bytes.
///
/// Every text of a recipe or target file that becomes a path, a flag or linker text has this type, so a file from a stranger
/// can neither leave the output folder nor add a flag.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Name(String);

impl Name {
    /// The name in `text`; `None` if the text is not a valid file name on every system.
    pub fn new(text: &str) -> Option<Self> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let valid = first && text.len() <= LONGEST && text.bytes().all(allowed);
        valid.then(|| Self(text.to_owned()))
    }

    /// The name of something that has no name of its own.
    pub fn model() -> Self {
        Self("model".to_owned())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let message =
            || format!("{} is not a valid name; use letters, digits, `-`, `_` and `.`", crate::suggest::quote(&text));
        Self::new(&text).ok_or_else(|| de::Error::custom(message()))
    }
}

impl JsonSchema for Name {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^([A-Za-z0-9][A-Za-z0-9._-]{0,63}|.*\\$\\{.*\\}.*)$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_safe_as_a_file_name() {
        assert!(["digits", "llama-s25", "a", "8bit_v1.2"].iter().all(|text| Name::new(text).is_some()));
        assert!(["", "..", "-x", "a/b", "a b", "é"].iter().all(|text| Name::new(text).is_none()));
        assert_eq!(Name::new(&"x".repeat(65)), None);
    }
}
