//! The bytes of tokens, as the decoder of a tokenizer makes text of tokens.

use std::collections::BTreeMap;

use et_llm::{Error, Token};
use et_module::byte_letter;
use serde_json::Value;

/// A step of a decoder, on one token.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Characters that stand for bytes.
    ByteLevel,
    /// `<0x0A>` for a byte that no token has.
    ByteFallback,
    /// A text for another.
    Replace(String, String),
}

/// The bytes of tokens.
pub struct Bytes {
    steps: Vec<Step>,
    table: BTreeMap<char, u8>,
}

impl Bytes {
    /// Reads the `decoder` of a `tokenizer.json`.
    ///
    /// # Errors
    /// [`Error::NoTokenBytes`] for a decoder that makes text of several tokens at once.
    pub fn of(decoder: &Value) -> Result<Self, Error> {
        let mut steps = Vec::new();
        add_steps(decoder, &mut steps).ok_or(Error::NoTokenBytes)?;
        Ok(Self { steps, table: table() })
    }

    /// A token of a text.
    pub fn token(&self, name: &str) -> Token {
        let mut name = name.to_owned();
        for step in &self.steps {
            match step {
                Step::Replace(from, to) => name = name.replace(from, to),
                Step::ByteFallback => {
                    if let Some(byte) = fallback(&name) {
                        return Token::Bytes(vec![byte]);
                    }
                }
                Step::ByteLevel => {
                    let bytes: Option<Vec<u8>> = name.chars().map(|letter| self.table.get(&letter).copied()).collect();
                    return Token::Bytes(bytes.unwrap_or(name.into_bytes()));
                }
            }
        }
        Token::Bytes(name.into_bytes())
    }
}

/// Adds the steps of a decoder; `None` for a decoder that makes text of several tokens at once. A step that cuts white space off the
/// beginning of a text changes no other token.
fn add_steps(decoder: &Value, steps: &mut Vec<Step>) -> Option<()> {
    let text = |key: &str| decoder.get(key).and_then(Value::as_str);
    match text("type")? {
        "Sequence" => {
            return decoder.get("decoders")?.as_array()?.iter().try_for_each(|decoder| add_steps(decoder, steps));
        }
        "ByteLevel" => steps.push(Step::ByteLevel),
        "ByteFallback" => steps.push(Step::ByteFallback),
        "Metaspace" => steps.push(Step::Replace(text("replacement")?.to_owned(), " ".to_owned())),
        "Replace" => {
            let from = decoder.get("pattern")?.get("String")?.as_str()?;
            steps.push(Step::Replace(from.to_owned(), text("content")?.to_owned()));
        }
        "Fuse" => {}
        "Strip" if decoder.get("stop").and_then(Value::as_u64) == Some(0) => {}
        _ => return None,
    }
    Some(())
}

/// The byte of `<0x0A>`.
fn fallback(name: &str) -> Option<u8> {
    let digits = name.strip_prefix("<0x")?.strip_suffix('>').filter(|digits| digits.len() == 2)?;
    u8::from_str_radix(digits, 16).ok()
}

/// The bytes by the characters that stand for the bytes.
fn table() -> BTreeMap<char, u8> {
    (0..=u8::MAX).map(|byte| (byte_letter(byte), byte)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bytes(decoder: &Value, name: &str) -> Vec<u8> {
        match Bytes::of(decoder).unwrap().token(name) {
            Token::Bytes(bytes) => bytes,
            token => panic!("{token:?}"),
        }
    }

    #[test]
    fn characters_stand_for_bytes() {
        let decoder = json!({ "type": "ByteLevel" });
        assert_eq!(table().len(), 256);
        for (name, expected) in
            [("Ġa", b" a".as_slice()), ("Ċ", b"\n"), ("Ã©", "é".as_bytes()), ("ł", b"\xa0"), ("Ń", b"\xad")]
        {
            assert_eq!(bytes(&decoder, name), expected, "{name}");
        }
        assert_eq!(bytes(&decoder, "<a b>"), b"<a b>", "a blank stands for no byte");
    }

    #[test]
    fn pieces_have_blanks_and_bytes() {
        let replace = json!({ "type": "Replace", "pattern": { "String": "▁" }, "content": " " });
        let strip = json!({ "type": "Strip", "content": " ", "start": 1, "stop": 0 });
        let decoder =
            json!({ "type": "Sequence", "decoders": [replace, { "type": "ByteFallback" }, { "type": "Fuse" }, strip] });
        for (name, expected) in
            [("▁a▁b", b" a b".as_slice()), ("<0x0A>", b"\n"), ("<0xe2>", b"\xe2"), ("<0x123>", b"<0x123>")]
        {
            assert_eq!(bytes(&decoder, name), expected, "{name}");
        }
        assert_eq!(bytes(&json!({ "type": "Metaspace", "replacement": "▁" }), "▁a"), b" a");
    }

    #[test]
    fn decoders_of_several_tokens_have_no_bytes() {
        for decoder in [json!(null), json!({ "type": "WordPiece", "prefix": "##" }), json!({ "type": "CTC" })] {
            assert!(Bytes::of(&decoder).is_err(), "{decoder}");
        }
    }
}
