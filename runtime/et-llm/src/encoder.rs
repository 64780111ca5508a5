//! Encoders: a text in; an embedding, classes, a score or labels of words out.

mod answer;
mod facts;
mod scores;

use std::rc::Rc;
use std::sync::Arc;

use et_core::ScalarType;
use et_module::{DataFiles, Engines, FileBytes, Module, named_data};

pub use answer::{Answer, Likely, Word};
pub use facts::{ENCODER_KEY, EncoderFacts, Scores, Task};

use crate::method::{place, read_logits, set};
use crate::{Error, LazyText, Loading, Reading, Text};

/// The method of an encoder.
const FORWARD: &str = "forward";

/// A loaded encoder with the tokenizer.
pub struct Encoder {
    module: Module,
    tokens: usize,
    /// Models that read pairs have such an input.
    types: Option<usize>,
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
        data: impl FnOnce() -> Result<DataFiles, et_module::Error>,
        loading: &Loading<'_>,
    ) -> Result<Option<Self>, Error> {
        let Some(facts) = named_data(file, ENCODER_KEY) else { return Ok(None) };
        let facts = EncoderFacts::parse(facts)?;
        let engines = Engines::new(loading.engines, loading.threads);
        let engines = match loading.observer {
            Some(observer) => engines.observed_by(Arc::clone(observer)),
            None => engines,
        };
        let module = Module::load_method(FileBytes::shared(file), data()?, FORWARD, loading.kernels, &engines)?;
        let (tokens, types) = (place(&module, "tokens")?, place(&module, "types").ok());
        Ok(Some(Self { module, tokens, types, facts, text: LazyText::new(loading.text) }))
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
        self.text.get(|key| self.module.named_data(key))
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
        let shape = [1, tokens.len()];
        let longs = |numbers: &mut dyn Iterator<Item = u32>| numbers.map(i64::from).collect::<Vec<i64>>();
        set(&mut self.module, self.tokens, &shape, &longs(&mut tokens.iter().copied()))?;
        if let Some(index) = self.types {
            let types = types.iter().copied().chain(std::iter::repeat(0)).take(tokens.len());
            set(&mut self.module, index, &shape, &longs(&mut { types }))?;
        }
        self.module.execute()?;
        let output = self.module.output(0)?;
        if output.scalar_type != ScalarType::Float {
            return Err(Error::NotALanguageModel("its output is no `float32`".to_owned()));
        }
        let mut numbers = Vec::new();
        read_logits(&output.bytes, &mut numbers);
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
