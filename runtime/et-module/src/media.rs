//! Pictures and recordings as the one input of a method that is a tensor.

use std::path::Path;

use crate::preprocess::{PREPROCESS_KEY, Preprocess, from_text};
use crate::{Array, Error, MediaFormat, Module, TensorFileError, TensorType};

/// Reads a picture or a recording by the steps for an input of this type. The error is a phrase about the file.
pub type ReadMedia = fn(file: &[u8], steps: &Preprocess, wanted: &TensorType) -> Result<Array, String>;

/// The tensor that a picture or a recording becomes, with the name of its input: the method's one input that is a tensor.
///
/// # Errors
/// [`Error::Inputs`] with the `path` for several inputs, no steps for the input in the program file, no reader, a malformed file.
pub fn read_media(
    path: &Path,
    file: &[u8],
    format: MediaFormat,
    module: &Module,
    reader: Option<ReadMedia>,
) -> Result<(String, Array), Error> {
    let wrong = |source| Error::Inputs { path: path.to_owned(), source };
    let mut tensors = Vec::new();
    for (index, name) in module.input_names().iter().enumerate() {
        tensors.extend(module.input_type(index)?.map(|wanted| (name.clone(), wanted)));
    }
    let [(input, wanted)] = tensors.as_slice() else {
        return Err(wrong(TensorFileError::NotOneInput(tensors.into_iter().map(|(name, _)| name).collect())));
    };
    let Some(steps) = module.preprocess(input).filter(|steps| format.takes(steps)) else {
        return Err(wrong(TensorFileError::NoSteps { input: input.clone(), format }));
    };
    let reader = reader.ok_or_else(|| wrong(TensorFileError::NoReader(format)))?;
    let array = reader(file, &steps, wanted).map_err(|problem| wrong(TensorFileError::Media { format, problem }))?;
    Ok((input.clone(), array))
}

impl Module {
    /// The steps that the program file states for an input.
    pub fn preprocess(&self, input: &str) -> Option<Preprocess> {
        let text = std::str::from_utf8(self.named_data(PREPROCESS_KEY)?).ok()?;
        from_text(text)?.remove(input)
    }
}
