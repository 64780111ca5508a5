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
    /// The position of the first token, in a model whose positions differ from places in a text.
    position: Option<usize>,
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
        let (tokens, start) = (place(&module, "tokens")?, place(&module, "start")?);
        let [position, last] = ["position", "last"].map(|name| place(&module, name).ok());
        let piece = match module.input_type(tokens)? {
            Some(wanted) if wanted.scalar_type == ScalarType::Long => wanted.shape.iter().product(),
            _ => return Err(Error::NotALanguageModel("`tokens` are no `int64`".to_owned())),
        };
        Ok(Self { module, tokens, start, position, last, piece })
    }

    /// Reads at most a piece of tokens, of which the first has a place in the text and a position.
    pub fn execute(&mut self, tokens: &[u32], [start, position]: [usize; 2]) -> Result<(), Error> {
        let filler = (tokens.len()..self.piece).map(|_| 0);
        let tokens_and_filler: Vec<i64> = tokens.iter().copied().map(i64::from).chain(filler).collect();
        let module = &mut self.module;
        set(module, self.tokens, &[1, self.piece], &tokens_and_filler)?;
        set(module, self.start, &[1], &[start as i64])?;
        if let Some(input) = self.position {
            set(module, input, &[1], &[position as i64])?;
        }
        if let Some(last) = self.last {
            set(module, last, &[1], &[tokens.len() as i64 - 1])?;
        }
        Ok(module.execute()?)
    }

    /// A buffer for the bytes of the logits.
    pub fn empty_logits(&self) -> Result<Vec<u8>, Error> {
        let logits = self.module.output(output_of(&self.module)?)?;
        match logits.scalar_type {
            ScalarType::Float => Ok(logits.bytes),
            _ => Err(Error::NotALanguageModel("its logits are no `float32`".to_owned())),
        }
    }

    /// Copies a row of the logits, by way of `bytes`, a buffer of one row.
    pub fn logits(&self, row: usize, bytes: &mut [u8], logits: &mut Vec<f32>) -> Result<(), Error> {
        copy_logits(&self.module, row, bytes, logits)
    }
}

/// Copies a row of the logits of a method, by way of `bytes`, a buffer of one row.
///
/// # Errors
/// A row that the method does not have.
pub fn copy_logits(module: &Module, row: usize, bytes: &mut [u8], logits: &mut Vec<f32>) -> Result<(), Error> {
    module.copy_output_part(output_of(module)?, row * bytes.len(), bytes)?;
    read_logits(bytes, logits);
    Ok(())
}

/// Reads logits from their bytes.
pub fn read_logits(bytes: &[u8], logits: &mut Vec<f32>) {
    logits.clear();
    logits.extend(bytes.as_chunks().0.iter().copied().map(f32::from_le_bytes));
}

/// The position of an input.
///
/// # Errors
/// [`Error::NotALanguageModel`] for a missing input.
pub fn place(module: &Module, name: &str) -> Result<usize, Error> {
    let names = module.stored_input_names().unwrap_or_default();
    let place = names.iter().position(|found| found == name);
    place.ok_or_else(|| Error::NotALanguageModel(format!("an input `{name}` is missing")))
}

/// The position of the logits, behind the new values of the mutated inputs.
pub fn output_of(module: &Module) -> Result<usize, Error> {
    Ok(module.output_count()?.saturating_sub(1))
}

/// Sets an input of integers.
pub fn set(module: &mut Module, index: usize, shape: &[usize], numbers: &[i64]) -> Result<(), Error> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let view = TensorView { scalar_type: ScalarType::Long, shape: shape.to_vec(), bytes: &bytes };
    Ok(module.set_input(index, &view)?)
}
