//! A text that was read, with the state behind it, as tensors: another process goes on without reading the text again.

use et_core::ScalarType;
use et_module::safetensors::SafeTensors;
use et_module::{Array, Named, TensorView};

use crate::{Error, Model, is_image};

/// The tensor with the tokens, `int64 [1, n]`.
const TOKENS: &str = "tokens";
/// The tensor with the number of positions that were ever written, `int64 [1]`.
const WRITTEN: &str = "written";
/// The beginning of the names of state tensors.
const STATE: &str = "state.";

impl Model {
    /// The tokens that were read, and the state of the methods. A KV cache for the whole context ends with the last token.
    ///
    /// # Errors
    /// State that a device does not give out.
    pub fn save(&self) -> Result<Named<Array>, Error> {
        // Tiles of pictures are those of this process.
        let texts = self.tokens().iter().take_while(|token| !is_image(**token));
        let tokens: Vec<i64> = texts.map(|token| i64::from(*token)).collect();
        let written = self.written();
        let mut saved = Named::from([
            (TOKENS.to_owned(), integers(vec![1, tokens.len()], &tokens)),
            (WRITTEN.to_owned(), integers(vec![1], &[i64::try_from(written).unwrap_or(i64::MAX)])),
        ]);
        for name in self.methods_state().state_names()? {
            if let Some(state) = self.methods_state().attribute(&name)? {
                saved.insert(format!("{STATE}{name}"), until(state, written, self.context()));
            }
        }
        Ok(saved)
    }

    /// Goes on behind the tokens of [`Self::save`], of the same program.
    ///
    /// # Errors
    /// [`Error::Saved`] for tensors that this program did not save.
    pub fn restore(&mut self, saved: &SafeTensors<'_>) -> Result<(), Error> {
        let tensor = |name: &str| saved.tensors.get(name).ok_or_else(|| missing(name));
        let tokens = numbers(tensor(TOKENS)?).ok_or_else(|| missing(TOKENS))?;
        let known = |token: i64| u32::try_from(token).ok().filter(|token| (*token as usize) < self.vocabulary());
        let tokens: Option<Vec<u32>> = tokens.into_iter().map(known).collect();
        let tokens = tokens.ok_or_else(|| Error::Saved("the tokens are those of another model".to_owned()))?;
        let written = numbers(tensor(WRITTEN)?).and_then(|written| usize::try_from(*written.first()?).ok());
        let written = written.filter(|written| *written >= tokens.len()).ok_or_else(|| missing(WRITTEN))?;
        // After an error, the state is that of neither text.
        self.reset();
        for name in self.methods_state().state_names()? {
            let part = tensor(&format!("{STATE}{name}"))?;
            let Some(mut state) = self.methods_state().attribute(&name)? else { continue };
            fill(&mut state, part).ok_or_else(|| Error::Saved(format!("`{STATE}{name}` is of another model")))?;
            self.methods_state_mut().set_attribute(&name, &state)?;
        }
        self.go_on(tokens, written);
        Ok(())
    }
}

/// A KV cache for the whole context, `[1, context, heads, depth]`, up to a position; other state as it is.
fn until(state: Array, written: usize, context: Option<usize>) -> Array {
    match state.shape[..] {
        [1, slots, heads, depth] if Some(slots) == context && written < slots => {
            let mut bytes = state.bytes;
            bytes.truncate(bytes.len() / slots * written);
            Array { shape: vec![1, written, heads, depth], bytes, ..state }
        }
        _ => state,
    }
}

/// Puts the saved part at the beginning of a state; `None` for a part of other state.
fn fill(state: &mut Array, part: &TensorView<'_>) -> Option<()> {
    let is_part = part.scalar_type == state.scalar_type
        && part.shape.len() == state.shape.len()
        && part.shape.iter().zip(&state.shape).enumerate().all(|(dim, (part, whole))| match dim {
            1 => part <= whole,
            _ => part == whole,
        });
    let start = state.bytes.get_mut(..part.bytes.len()).filter(|_| is_part)?;
    start.copy_from_slice(part.bytes);
    Some(())
}

fn integers(shape: Vec<usize>, numbers: &[i64]) -> Array {
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    Array { scalar_type: ScalarType::Long, shape, bytes }
}

fn numbers(tensor: &TensorView<'_>) -> Option<Vec<i64>> {
    let is_long = tensor.scalar_type == ScalarType::Long;
    is_long.then(|| tensor.bytes.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect())
}

fn missing(name: &str) -> Error {
    Error::Saved(format!("there is no valid tensor `{name}`"))
}
