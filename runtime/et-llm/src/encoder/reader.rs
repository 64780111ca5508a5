//! The methods of an encoder: one for a whole text, or those of a decoder for chunks of a text.

use std::rc::Rc;

use et_core::ScalarType;
use et_module::{DataFiles, Engines, FileBytes, Kernels, Module};

use super::EncoderFacts;
use crate::method::{place, read_logits, set};
use crate::{Error, Model};

/// The method for a whole text.
const FORWARD: &str = "forward";

/// Reads the tokens of a text.
pub enum Reader {
    /// An encoder: each token attends to all tokens.
    Whole(Box<Whole>),
    /// A decoder, whose methods give embeddings in the place of logits.
    Chunks(Box<Model>),
}

/// The method of an encoder.
pub struct Whole {
    module: Module,
    tokens: usize,
    /// Models that read pairs have such an input.
    types: Option<usize>,
}

impl Reader {
    /// Loads the method for a whole text, or without one the methods for chunks.
    ///
    /// # Errors
    /// Methods that cannot be loaded.
    pub fn load(
        file: &Rc<FileBytes>,
        data: impl Fn() -> Result<DataFiles, et_module::Error>,
        kernels: Kernels<'_>,
        engines: &Engines,
        facts: &EncoderFacts,
    ) -> Result<Self, Error> {
        match Module::load_method(FileBytes::shared(file), data()?, FORWARD, kernels, engines) {
            Ok(module) => {
                let (tokens, types) = (place(&module, "tokens")?, place(&module, "types").ok());
                Ok(Self::Whole(Box::new(Whole { module, tokens, types })))
            }
            Err(et_module::Error::MethodMissing { .. }) => {
                let mut model = Model::load(file, data, kernels, engines)?;
                model.embeds(facts.vocabulary);
                Ok(Self::Chunks(Box::new(model)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The bytes of this name in the program file.
    pub fn named_data(&self, key: &str) -> Option<&[u8]> {
        match self {
            Self::Whole(whole) => whole.module.named_data(key),
            Self::Chunks(model) => model.named_data(key),
        }
    }

    /// The output for the tokens of a text, with their types. The numbers do not depend on earlier texts: a decoder begins anew.
    ///
    /// # Errors
    /// A failure of the model.
    pub fn run(&mut self, tokens: &[u32], types: &[u32]) -> Result<Vec<f32>, Error> {
        match self {
            Self::Whole(whole) => whole.run(tokens, types),
            Self::Chunks(model) => {
                model.reset();
                model.read(tokens).map(<[f32]>::to_vec)
            }
        }
    }
}

impl Whole {
    fn run(&mut self, tokens: &[u32], types: &[u32]) -> Result<Vec<f32>, Error> {
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
        Ok(numbers)
    }
}
