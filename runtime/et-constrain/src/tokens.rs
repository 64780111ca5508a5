//! The tokens of a model in the form of `toktrie`.

use std::sync::Arc;

use et_llm::Token;
use llguidance::toktrie::{ApproximateTokEnv, INVALID_TOKEN, TokEnv, TokRxInfo, TokTrie};

/// The tree of all tokens by their bytes; `stops` end a text.
pub fn environment(vocabulary: &[Token], stops: &[u32]) -> TokEnv {
    let words: Vec<Vec<u8>> = (0..).zip(vocabulary).map(|(id, token)| word(token, stops.contains(&id))).collect();
    let count = u32::try_from(words.len()).unwrap_or(u32::MAX);
    let stops: Vec<u32> = stops.iter().copied().filter(|stop| *stop < count).collect();
    let trie = TokTrie::from(&TokRxInfo::new(count, INVALID_TOKEN), &words);
    let trie = if stops.is_empty() { trie } else { trie.with_eos_tokens(&stops) };
    Arc::new(ApproximateTokEnv::new(trie))
}

/// The bytes of a token; a marker begins the names of special tokens, and no text has the marker. An end token is no part of a text, so
/// an end token is special.
fn word(token: &Token, is_stop: bool) -> Vec<u8> {
    let special = |name: &[u8]| [&[TokTrie::SPECIAL_TOKEN_MARKER], name].concat();
    match token {
        Token::Bytes(bytes) if is_stop => special(bytes),
        Token::Bytes(bytes) => bytes.clone(),
        Token::Special(name) => special(name.as_bytes()),
        Token::Unused => Vec::new(),
    }
}
