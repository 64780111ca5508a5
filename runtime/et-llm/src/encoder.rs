//! Encoders: a text in; an embedding, classes, a score or labels of words out.

mod answer;
mod facts;
mod reader;
mod scores;

use std::rc::Rc;
use std::sync::Arc;

use et_module::{DataFiles, Engines, FileBytes, named_data};

pub use answer::{Answer, Likely, Word};
pub use facts::{ENCODER_KEY, EncoderFacts, Scores, Task};

use crate::{Error, LazyText, Loading, Reading, Text};
use reader::Reader;

/// A loaded encoder, or a decoder for embeddings, with the tokenizer.
pub struct Encoder {
    reader: Reader,
    facts: EncoderFacts,
    text: LazyText,
}

impl Encoder {
    /// Loads the encoder of a program file; `None` for a program file with another model.
    ///
    /// # Errors
    /// A program that cannot be loaded.
    pub fn find(
        file: &Rc<FileBytes>,
        data: impl Fn() -> Result<DataFiles, et_module::Error>,
        loading: &Loading<'_>,
    ) -> Result<Option<Self>, Error> {
        let Some(facts) = named_data(file, ENCODER_KEY) else { return Ok(None) };
        let facts = EncoderFacts::parse(facts)?;
        let engines = Engines::new(loading.engines, loading.threads);
        let engines = match loading.observer {
            Some(observer) => engines.observed_by(Arc::clone(observer)),
            None => engines,
        };
        let reader = Reader::load(file, data, loading.kernels, &engines, &facts)?;
        Ok(Some(Self { reader, facts, text: LazyText::new(loading.text) }))
    }

    /// The facts in the program file.
    pub const fn facts(&self) -> &EncoderFacts {
        &self.facts
    }

    /// The tokenizer.
    ///
    /// # Errors
    /// [`Error::NoTokenizer`]; errors of the tokenizer's maker.
    pub fn text(&self) -> Result<Rc<dyn Text>, Error> {
        self.text.get(|key| self.reader.named_data(key))
    }

    /// Reads a text, or a pair of texts.
    ///
    /// # Errors
    /// [`Error::NoTokenizer`]; a text that the tokenizer refuses; [`Error::NoPair`] for a reranker without a second text.
    pub fn read(&self, text: &str, pair: Option<&str>) -> Result<Reading, Error> {
        match (self.facts.task, pair) {
            (Task::Score, None) => Err(Error::NoPair("needs")),
            (Task::Embedding | Task::Labels, Some(_)) => Err(Error::NoPair("does not read")),
            _ => self.text()?.read(text, pair, self.facts.max_tokens),
        }
    }

    /// The output of the model for tokens: an embedding, the logits of classes, or the logits of each token, one after the other.
    ///
    /// # Errors
    /// No token, too many or unknown tokens; a failure of the model; an output that is no number.
    pub fn run(&mut self, tokens: &[u32], types: &[u32]) -> Result<Vec<f32>, Error> {
        let EncoderFacts { vocabulary, max_tokens, .. } = self.facts;
        if tokens.is_empty() {
            return Err(Error::NoTokens);
        }
        if tokens.len() > max_tokens {
            return Err(Error::ContextFull { tokens: tokens.len(), context: max_tokens });
        }
        if let Some(token) = tokens.iter().find(|token| **token as usize >= vocabulary) {
            return Err(Error::UnknownToken { token: *token, vocabulary });
        }
        let numbers = self.reader.run(tokens, types)?;
        if numbers.iter().all(|number| number.is_finite()) { Ok(numbers) } else { Err(Error::NoLogits) }
    }

    /// The answer to a text, or to a pair of texts.
    ///
    /// # Errors
    /// As [`Self::read`] and [`Self::run`].
    pub fn answer(&mut self, text: &str, reading: &Reading) -> Result<Answer, Error> {
        let output = self.run(&reading.tokens, &reading.types)?;
        Ok(Answer::new(&self.facts, output, reading, text))
    }
}
