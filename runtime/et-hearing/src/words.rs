//! Tokens as words with times.

use et_llm::{Error, SpokenWord, Text};

/// Languages whose texts have no spaces between words.
const UNSPACED: [&str; 6] = ["zh", "ja", "th", "lo", "my", "yue"];
/// Punctuation that belongs to the next word, and to the word before, as in OpenAI's command.
const OPENING: &str = "\"'\u{201c}\u{bf}([{-";
const CLOSING: &str = "\"'.\u{3002},\u{ff0c}!\u{ff01}?\u{ff1f}:\u{ff1a}\u{201d})]}\u{3001}";

/// What begins a word also without a space ahead.
const PUNCTUATION: &str = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

/// A token, and its start and end in seconds.
pub type TimedToken = (u32, [f64; 2]);

/// The words of tokens of text, in a language.
///
/// # Errors
/// Errors of the tokenizer.
pub fn words(text: &dyn Text, tokens: &[TimedToken], language: Option<&str>) -> Result<Vec<SpokenWord>, Error> {
    let characters = characters(text, tokens)?;
    let has_spaces = language.is_none_or(|code| !UNSPACED.contains(&code));
    let mut words: Vec<SpokenWord> = Vec::new();
    for piece in characters {
        let is_punctuation = PUNCTUATION.contains(piece.text.trim());
        match words.last_mut() {
            Some(last) if has_spaces && !piece.text.starts_with(' ') && !is_punctuation => append(last, piece),
            _ => words.push(piece),
        }
    }
    Ok(closed(opened(words)))
}

/// Whole characters, of one or several tokens.
fn characters(text: &dyn Text, tokens: &[TimedToken]) -> Result<Vec<SpokenWord>, Error> {
    let (mut pieces, mut kept): (Vec<SpokenWord>, Vec<u32>) = (Vec::new(), Vec::new());
    let mut begun = None;
    for (token, [start, end]) in tokens {
        kept.push(*token);
        let start = *begun.get_or_insert(*start);
        let decoded = text.decode(&kept)?;
        if !decoded.contains(char::REPLACEMENT_CHARACTER) {
            pieces.push(SpokenWord { start, end: *end, text: decoded });
            kept.clear();
            begun = None;
        }
    }
    Ok(pieces)
}

fn append(word: &mut SpokenWord, piece: SpokenWord) {
    word.text.push_str(&piece.text);
    word.end = piece.end;
}

/// Joins opening punctuation with the next word.
fn opened(words: Vec<SpokenWord>) -> Vec<SpokenWord> {
    let mut joined: Vec<SpokenWord> = Vec::new();
    for word in words.into_iter().rev() {
        match joined.last_mut() {
            Some(next) if word.text.starts_with(' ') && OPENING.contains(word.text.trim()) => {
                next.text.insert_str(0, &word.text);
                next.start = word.start;
            }
            _ => joined.push(word),
        }
    }
    joined.reverse();
    joined
}

/// Joins closing punctuation with the word before.
fn closed(words: Vec<SpokenWord>) -> Vec<SpokenWord> {
    let mut joined: Vec<SpokenWord> = Vec::new();
    for word in words {
        match joined.last_mut() {
            Some(last) if !last.text.ends_with(' ') && CLOSING.contains(&*word.text) => append(last, word),
            _ => joined.push(word),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use et_llm::Conversation;

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

        fn render(&self, _conversation: &Conversation<'_>) -> Result<String, Error> {
            Err(Error::NoTemplate)
        }
    }

    fn told(text: &str, language: &str) -> Vec<(String, f64, f64)> {
        let tokens: Vec<TimedToken> =
            (0..).zip(text.bytes()).map(|(at, byte)| (u32::from(byte), [f64::from(at), f64::from(at + 1)])).collect();
        let words = words(&Bytes, &tokens, Some(language)).unwrap();
        words.into_iter().map(|word| (word.text, word.start, word.end)).collect()
    }

    #[test]
    fn words_take_punctuation_along() {
        let wanted = [(" \u{e9}a", 0.0, 4.0), (" \"b\".", 4.0, 9.0)];
        assert_eq!(told(" \u{e9}a \"b\".", "fr"), wanted.map(|(text, start, end)| (text.to_owned(), start, end)));
    }

    #[test]
    fn characters_are_words_where_texts_have_no_spaces() {
        let wanted = [("\u{6f22}", 0.0, 3.0), ("\u{5b57}\u{3002}", 3.0, 9.0)];
        assert_eq!(
            told("\u{6f22}\u{5b57}\u{3002}", "ja"),
            wanted.map(|(text, start, end)| (text.to_owned(), start, end))
        );
    }
}
