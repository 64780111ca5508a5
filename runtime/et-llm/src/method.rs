//! A method of a language model: tokens in, logits out.

use et_core::ScalarType;
use et_module::Module;
use et_module::TensorView;

use crate::Error;

/// A method with the positions of the inputs.
pub struct Method {
    /// The method.
    pub module: Module,
    tokens: usize,
    start: usize,
    /// A method for one token has no such input.
    last: Option<usize>,
    /// The number of tokens of a call.
    pub piece: usize,
}

impl Method {
    /// The method of a loaded module.
    ///
    /// # Errors
    /// [`Error::NotALanguageModel`] where inputs are missing.
    pub fn new(module: Module) -> Result<Self, Error> {
        let names = module.stored_input_names().unwrap_or_default();
        let place = |name: &str| names.iter().position(|found| found == name);
        let missing = |name: &str| Error::NotALanguageModel(format!("an input `{name}` is missing"));
        let tokens = place("tokens").ok_or_else(|| missing("tokens"))?;
        let start = place("start").ok_or_else(|| missing("start"))?;
        let last = place("last");
        let piece = match module.input_type(tokens)? {
            Some(wanted) if wanted.scalar_type == ScalarType::Long => wanted.shape.iter().product(),
            _ => return Err(Error::NotALanguageModel("`tokens` are no `int64`".to_owned())),
        };
        Ok(Self { module, tokens, start, last, piece })
    }

    /// Reads at most a piece of tokens that begin at a position.
    pub fn execute(&mut self, tokens: &[u32], position: usize) -> Result<(), Error> {
        let filler = (tokens.len()..self.piece).map(|_| 0);
        let tokens_and_filler: Vec<u8> =
            tokens.iter().copied().chain(filler).flat_map(|token| i64::from(token).to_le_bytes()).collect();
        self.set(self.tokens, &[1, self.piece], &tokens_and_filler)?;
        self.set(self.start, &[1], &(position as i64).to_le_bytes())?;
        if let Some(last) = self.last {
            self.set(last, &[1], &(tokens.len() as i64 - 1).to_le_bytes())?;
        }
        Ok(self.module.execute()?)
    }

    fn set(&mut self, index: usize, shape: &[usize], bytes: &[u8]) -> Result<(), Error> {
        let view = TensorView { scalar_type: ScalarType::Long, shape: shape.to_vec(), bytes };
        Ok(self.module.set_input(index, &view)?)
    }

    /// A buffer for the bytes of the logits.
    pub fn empty_logits(&self) -> Result<Vec<u8>, Error> {
        let logits = self.module.output(self.output()?)?;
        match logits.scalar_type {
            ScalarType::Float => Ok(logits.bytes),
            _ => Err(Error::NotALanguageModel("its logits are no `float32`".to_owned())),
        }
    }

    /// Copies a row of the logits, by way of `bytes`, a buffer of one row.
    pub fn logits(&self, row: usize, bytes: &mut [u8], logits: &mut Vec<f32>) -> Result<(), Error> {
        self.module.copy_output_part(self.output()?, row * bytes.len(), bytes)?;
        logits.clear();
        logits.extend(bytes.as_chunks().0.iter().copied().map(f32::from_le_bytes));
        Ok(())
    }

    /// The position of the logits, behind the new values of the mutated inputs.
    fn output(&self) -> Result<usize, Error> {
        Ok(self.module.output_count()?.saturating_sub(1))
    }
}
