//! Text that comes token by token.

use crate::{Error, Text};

/// Turns tokens into text as tokens come. A character may be several tokens, and the text of a token may depend on the neighbours:
/// the stream gives out text that later tokens do not change.
#[derive(Debug, Default)]
pub struct TextStream {
    tokens: Vec<u32>,
    /// Where in `tokens` the part begins that is decoded again with each token, and where the part that was not given out.
    start: usize,
    given: usize,
}

/// The replacement for bytes of an incomplete character.
const INCOMPLETE: char = char::REPLACEMENT_CHARACTER;

impl TextStream {
    /// The text that a further token makes certain.
    pub fn push(&mut self, text: &dyn Text, token: u32) -> Result<String, Error> {
        self.tokens.push(token);
        let (before, now) = self.decode(text)?;
        if now.ends_with(INCOMPLETE) {
            return Ok(String::new());
        }
        let new = new_text(&before, &now).to_owned();
        if !new.is_empty() {
            (self.start, self.given) = (self.given, self.tokens.len());
        }
        Ok(new)
    }

    /// The remaining text at the end.
    pub fn finish(&mut self, text: &dyn Text) -> Result<String, Error> {
        let (before, now) = self.decode(text)?;
        self.given = self.tokens.len();
        Ok(new_text(&before, &now).to_owned())
    }

    /// The text of the tokens from `start` on: of the tokens that were given out, and of all tokens.
    fn decode(&self, text: &dyn Text) -> Result<(String, String), Error> {
        let part = |end: usize| text.decode(self.tokens.get(self.start..end).unwrap_or_default());
        Ok((part(self.given)?, part(self.tokens.len())?))
    }
}

/// The part of the text `now` that the text `before` does not have. A later token may turn the last characters of `before` into others
/// (byte fallback: a broken byte behind whole characters makes replacement characters of all of them); the new text then begins
/// behind the characters that both texts share.
fn new_text<'a>(before: &str, now: &'a str) -> &'a str {
    let shared = now.char_indices().zip(before.chars()).find(|((_, new), old)| new != old);
    let start = shared.map_or(before.len().min(now.len()), |((index, _), _)| index);
    &now[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens are bytes.
    struct Bytes;

    impl Text for Bytes {
        fn encode(&self, text: &str, _begins: bool) -> Result<Vec<u32>, Error> {
            Ok(text.bytes().map(u32::from).collect())
        }

        fn decode(&self, tokens: &[u32]) -> Result<String, Error> {
            let bytes: Vec<u8> = tokens.iter().map(|token| *token as u8).collect();
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        }

        fn render(&self, _conversation: &crate::Conversation<'_>) -> Result<String, Error> {
            Err(Error::NoTemplate)
        }
    }

    fn pieces(text: &[u8]) -> Vec<String> {
        let mut stream = TextStream::default();
        let mut pieces: Vec<String> = text.iter().map(|byte| stream.push(&Bytes, u32::from(*byte)).unwrap()).collect();
        pieces.push(stream.finish(&Bytes).unwrap());
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }

    #[test]
    fn characters_come_whole() {
        assert_eq!(pieces("aé🦊b".as_bytes()), ["a", "é", "🦊", "b"]);
    }

    /// Byte fallback as the `tokenizers` library decodes a run of byte tokens: text where the whole run is UTF-8, or else a replacement
    /// character for each byte. Tokens from 256 on are letters.
    struct ByteFallback;

    impl Text for ByteFallback {
        fn encode(&self, _text: &str, _begins: bool) -> Result<Vec<u32>, Error> {
            Ok(Vec::new())
        }

        fn decode(&self, tokens: &[u32]) -> Result<String, Error> {
            let is_byte = |token: &u32| *token < 256;
            let runs = tokens.chunk_by(|one, next| is_byte(one) == is_byte(next));
            Ok(runs.map(decode_run).collect())
        }

        fn render(&self, _conversation: &crate::Conversation<'_>) -> Result<String, Error> {
            Err(Error::NoTemplate)
        }
    }

    fn decode_run(run: &[u32]) -> String {
        let bytes: Vec<u8> = run.iter().map(|token| *token as u8).collect();
        match run.first() {
            Some(0..256) => String::from_utf8(bytes).unwrap_or_else(|_| INCOMPLETE.to_string().repeat(run.len())),
            _ => bytes.iter().map(|letter| char::from(b'a' + letter)).collect(),
        }
    }

    #[test]
    fn a_broken_byte_behind_whole_characters_does_not_silence_the_rest() {
        let mut stream = TextStream::default();
        let tokens = [0x0a, 0xe4, 256, 257, 258];
        let mut pieces = tokens.map(|token| stream.push(&ByteFallback, token).unwrap()).to_vec();
        pieces.push(stream.finish(&ByteFallback).unwrap());
        assert!(pieces.concat().ends_with("\u{fffd}abc"), "{pieces:?}");
        assert!(pieces.concat().starts_with('\n'), "{pieces:?}");
    }

    #[test]
    fn what_never_becomes_a_character_comes_at_the_end() {
        assert_eq!(pieces(b"a\xf0\x9f"), ["a", "\u{fffd}"]);
    }
}
