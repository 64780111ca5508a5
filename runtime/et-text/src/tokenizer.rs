//! Hugging Face's tokenizers.

use et_llm::Error;

/// A tokenizer.
pub struct Tokenizer(tokenizers::Tokenizer);

impl Tokenizer {
    /// Reads a `tokenizer.json`.
    pub fn read(json: &[u8]) -> Result<Self, Error> {
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(json).map_err(failed)?;
        // Prompts are neither cut nor filled up.
        tokenizer.with_truncation(None).map_err(failed)?;
        tokenizer.with_padding(None);
        Ok(Self(tokenizer))
    }

    pub fn encode(&self, text: &str, begins: bool) -> Result<Vec<u32>, Error> {
        let encoded = self.0.encode_fast(text, begins).map_err(failed)?;
        Ok(encoded.get_ids().to_vec())
    }

    /// Decodes tokens. Special tokens, such as the end-of-text token, have no text.
    pub fn decode(&self, tokens: &[u32]) -> Result<String, Error> {
        self.0.decode(tokens, true).map_err(failed)
    }
}

fn failed(error: tokenizers::Error) -> Error {
    Error::Text(format!("the tokenizer: {error}"))
}
