//! The audio encoder of a program.

use et_core::ScalarType;
use et_llm::Error;
use et_module::{Module, TensorView};

use crate::Facts;

/// The loaded method: log-mel features in, states or embeddings out.
pub struct AudioEncoder {
    module: Module,
    shape: Vec<usize>,
}

impl AudioEncoder {
    /// The name of the method.
    pub const METHOD: &str = "audio_encoder";

    /// The method of a loaded module.
    ///
    /// # Errors
    /// Other inputs than the facts state.
    pub fn new(module: Module, facts: &Facts) -> Result<Self, Error> {
        let shape = vec![1, facts.bands, facts.frames];
        match module.input_type(0)? {
            Some(input) if input.scalar_type == ScalarType::Float && input.shape == shape => Ok(Self { module, shape }),
            _ => Err(Error::NotALanguageModel(format!("`{}` reads no `float32 {shape:?}`", Self::METHOD))),
        }
    }

    /// Reads the features of a window, little-endian; the decoder then reads what the method has written.
    pub fn execute(&mut self, features: &[u8]) -> Result<(), Error> {
        let view = TensorView { scalar_type: ScalarType::Float, shape: self.shape.clone(), bytes: features };
        self.module.set_input(0, &view)?;
        Ok(self.module.execute()?)
    }

    /// The output of the last call, behind the new values of state.
    pub fn output(&self) -> Result<Vec<u8>, Error> {
        let last = self.module.output_count()?.saturating_sub(1);
        Ok(self.module.output(last)?.bytes)
    }
}
