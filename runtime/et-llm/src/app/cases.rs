//! Cases with known answers: texts of tokens in, the logits behind each out.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use et_core::ScalarType;
use et_module::TensorView;
use et_module::safetensors::{self, SafeTensors};
use et_module::{Array, FileBytes, Named};

use super::files::{Rows, failed};
use crate::{Error, Model};

/// The tensor with the texts.
const TOKENS: &str = "tokens";
/// The tensor with the logits.
pub(super) const OUTPUT: &str = "output_0";

/// Reads `tokens`, `int64 [cases, length]`, from a safetensors file, and writes `output_0`, `float32 [cases, vocabulary]`: the
/// logits behind the last token of each.
///
/// # Errors
/// [`Error::File`] for a malformed file; errors of the model.
pub fn run(model: &mut Model, inputs: &Path, outputs: &Path) -> Result<(), Error> {
    let bytes = FileBytes::open(inputs)?;
    let file = SafeTensors::parse(&bytes).map_err(|error| failed(inputs, &error))?;
    let mut rows = Rows::default();
    for text in tokens(&file, inputs)? {
        model.reset();
        let text = model.open(text)?;
        rows.push(model.read(&text)?);
    }
    write_tensor(outputs, OUTPUT, rows.into_array())
}

/// The texts of a file.
///
/// # Errors
/// [`Error::File`] for a file without the tensor of texts.
pub(super) fn tokens(file: &SafeTensors<'_>, path: &Path) -> Result<Vec<Vec<u32>>, Error> {
    let texts = file.tensors.get(TOKENS).and_then(token_rows);
    texts.ok_or_else(|| failed(path, &format!("there is no tensor `{TOKENS}`, `int64 [cases, length]`")))
}

/// The rows of a tensor of tokens, `int64 [cases, length]`; `None` for a tensor of another type than tokens.
pub fn token_rows(tensor: &TensorView<'_>) -> Option<Vec<Vec<u32>>> {
    let [_, length] = tensor.shape[..] else { return None };
    if tensor.scalar_type != ScalarType::Long || length == 0 {
        return None;
    }
    let token = |bytes: &[u8; 8]| u32::try_from(i64::from_le_bytes(*bytes)).ok();
    tensor.bytes.chunks(8 * length).map(|row| row.as_chunks().0.iter().map(token).collect()).collect()
}

/// Writes a safetensors file with a tensor of this name.
///
/// # Errors
/// [`Error::File`] for a file that cannot be written.
pub fn write_tensor(path: &Path, name: &str, array: Array) -> Result<(), Error> {
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        safetensors::write(&Named::from([(name.to_owned(), array)]), &mut out)?;
        out.flush()
    });
    written.map_err(|error| failed(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_texts_and_what_is_no_token_is_refused() {
        let bytes = |tokens: &[i64]| tokens.iter().flat_map(|token| token.to_le_bytes()).collect::<Vec<u8>>();
        let read = |shape: &[usize], bytes: &[u8]| {
            token_rows(&TensorView { scalar_type: ScalarType::Long, shape: shape.to_vec(), bytes })
        };
        assert_eq!(read(&[2, 2], &bytes(&[1, 2, 3, 4])), Some(vec![vec![1, 2], vec![3, 4]]));
        assert_eq!(read(&[1, 1], &bytes(&[-1])), None);
        assert_eq!(read(&[2], &bytes(&[1, 2])), None);
    }
}
