//! Tokens of texts and of pairs of texts for encoders.

use et_llm::{Error, Reading};
use tokenizers::utils::truncation::{TruncationDirection, TruncationParams, TruncationStrategy, truncate_encodings};
use tokenizers::{Encoding, InputSequence, PostProcessor};

use crate::tokenizer::{Tokenizer, failed};

impl Tokenizer {
    /// The tokens of a text or of a pair, at most `most` with the special tokens. Tokens of the longer text are cut off first, as
    /// `transformers` does.
    pub fn reading(&self, text: &str, pair: Option<&str>, most: usize) -> Result<Reading, Error> {
        let parts = |text: &str, index| {
            let input = InputSequence::from(text);
            let pretokens = self.0.encode_char_offsets(input, false).map_err(failed)?;
            Ok::<Encoding, Error>(with_type(pretokens, index))
        };
        let (first, second) = (parts(text, 0)?, pair.map(|pair| parts(pair, 1)).transpose()?);
        let count = first.len() + second.as_ref().map_or(0, Encoding::len);
        let added = self.0.get_post_processor().map_or(0, |processor| processor.added_tokens(pair.is_some()));
        let max_length = most.checked_sub(added).filter(|length| *length > 0);
        let max_length = max_length.ok_or(Error::ContextFull { tokens: added + 1, context: most })?;
        let truncation = TruncationParams {
            direction: TruncationDirection::Right,
            max_length,
            strategy: TruncationStrategy::LongestFirst,
            stride: 0,
        };
        let (first, second) = truncate_encodings(first, second, &truncation).map_err(failed)?;
        let whole = self.0.post_process(first, second, true).map_err(failed)?;
        let spans = whole.get_offsets().iter().map(|(start, end)| [*start, *end]).collect();
        let is_special = whole.get_special_tokens_mask().iter().map(|mask| *mask != 0);
        let words = whole.get_word_ids().iter().zip(is_special);
        Ok(Reading {
            tokens: whole.get_ids().to_vec(),
            types: whole.get_type_ids().to_vec(),
            spans,
            words: words.map(|(word, is_special)| word.filter(|_| !is_special)).collect(),
            cut: count.saturating_sub(max_length),
        })
    }
}

/// The tokens as those of a text of a pair.
fn with_type(mut encoding: Encoding, index: u32) -> Encoding {
    encoding.set_type_ids(vec![index; encoding.len()]);
    encoding
}
