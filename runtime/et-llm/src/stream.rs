//! Text that comes token by token.

use crate::{Error, Text};

/// Turns tokens into text as they come. A character may be several tokens, and the text of a token may depend on its neighbours:
/// what is given out is what later tokens no longer change.
#[derive(Debug, Default)]
pub struct TextStream {
    tokens: Vec<u32>,
    /// Where in `tokens` the part begins that is decoded again with each token, and where the part that was not given out.
    start: usize,
    given: usize,
}

/// What takes the place of bytes that are no whole character.
const INCOMPLETE: char = char::REPLACEMENT_CHARACTER;

impl TextStream {
    /// The text that a further token makes certain.
    pub fn push(&mut self, text: &dyn Text, token: u32) -> Result<String, Error> {
        self.tokens.push(token);
        let (before, now) = self.decode(text)?;
        if now.ends_with(INCOMPLETE) {
            return Ok(String::new());
        }
        let new = now.strip_prefix(&before).unwrap_or_default().to_owned();
        if !new.is_empty() {
            (self.start, self.given) = (self.given, self.tokens.len());
        }
        Ok(new)
    }

    /// What is left at the end of the text.
    pub fn finish(&mut self, text: &dyn Text) -> Result<String, Error> {
        let (before, now) = self.decode(text)?;
        self.given = self.tokens.len();
        Ok(now.strip_prefix(&before).unwrap_or_default().to_owned())
    }

    /// The text of the tokens from `start` on: of those that were given out, and of all.
    fn decode(&self, text: &dyn Text) -> Result<(String, String), Error> {
        let part = |end: usize| text.decode(self.tokens.get(self.start..end).unwrap_or_default());
        Ok((part(self.given)?, part(self.tokens.len())?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;

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

        fn conversation(&self, _messages: &[Message]) -> Result<String, Error> {
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

    #[test]
    fn what_never_becomes_a_character_comes_at_the_end() {
        assert_eq!(pieces(b"a\xf0\x9f"), ["a", "\u{fffd}"]);
    }
}
