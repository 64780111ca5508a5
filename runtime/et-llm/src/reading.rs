//! Texts as encoders read them.

/// The tokens of a text or of a pair of texts, as an encoder reads the tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The tokens, with the special tokens that the tokenizer adds.
    pub tokens: Vec<u32>,
    /// For each token, the text of a pair.
    pub types: Vec<u32>,
    /// For each token, the range of characters in the text.
    pub spans: Vec<[usize; 2]>,
    /// For each token, the word of the text; `None` for special tokens.
    pub words: Vec<Option<u32>>,
    /// The tokens that were cut off.
    pub cut: usize,
}
