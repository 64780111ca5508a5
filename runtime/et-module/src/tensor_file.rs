//! Files of tensors: safetensors, or a NumPy array for the one input or output of a method.

use std::fmt::{Display, Formatter};
use std::io::Write;
use std::path::Path;

use crate::TensorView;
use crate::safetensors::{self, SafeTensors};
use crate::{Array, MediaFormat, Named, npy};

/// The mistake in a file of inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensorFileError {
    /// Neither safetensors nor a NumPy array.
    Safetensors(safetensors::Error),
    /// A NumPy array that cannot be read.
    Npy(npy::Error),
    /// One array, picture or recording for a method that has not one input: the names of its inputs.
    NotOneInput(Vec<String>),
    /// A picture or a recording for an input without preprocessing of this kind in the program file.
    NoSteps {
        /// The input.
        input: String,
        /// The format of the file.
        format: MediaFormat,
    },
    /// A picture or a recording for a binary that reads none.
    NoReader(MediaFormat),
    /// A picture or a recording that cannot be read, or does not fit.
    Media {
        /// The format of the file.
        format: MediaFormat,
        /// The mistake, a phrase.
        problem: String,
    },
}

impl Display for TensorFileError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Safetensors(error) => error.fmt(formatter),
            Self::Npy(error) => error.fmt(formatter),
            Self::NotOneInput(names) => {
                let names = names.join(", ");
                write!(
                    formatter,
                    "the file holds one tensor, and the inputs are {names}: write safetensors with a tensor for each"
                )
            }
            Self::NoSteps { input, format } => {
                let (kind, key) = (format.name(), format.key());
                write!(
                    formatter,
                    "the file is {kind}, and the program states no preprocessing `{key}` for input {input}"
                )
            }
            Self::NoReader(format) => {
                write!(formatter, "the file is {}, which this binary does not read", format.name())
            }
            Self::Media { format, problem } => write!(formatter, "{}: {problem}", format.name()),
        }
    }
}

impl std::error::Error for TensorFileError {}

/// Whether a file is a NumPy array.
pub fn is_npy(file: &[u8]) -> bool {
    file.starts_with(npy::MAGIC)
}

/// The tensors of a file by the names of the inputs. A NumPy array has no name: it is the one of `inputs`.
///
/// # Errors
/// Malformed files, and an array for several inputs.
pub fn read_tensors<'a>(file: &'a [u8], inputs: &[String]) -> Result<Named<TensorView<'a>>, TensorFileError> {
    if !is_npy(file) {
        return SafeTensors::parse(file).map(|file| file.tensors).map_err(TensorFileError::Safetensors);
    }
    let [input] = inputs else { return Err(TensorFileError::NotOneInput(inputs.to_vec())) };
    let array = npy::parse(file).map_err(TensorFileError::Npy)?;
    Ok(Named::from([(input.clone(), array)]))
}

/// Writes outputs in the format that the path's ending names: `.npy` for one array, else safetensors with `texts`.
///
/// # Errors
/// As `out`; `InvalidInput` for several outputs, or texts, in a NumPy file.
pub fn write_tensors(
    path: &Path,
    arrays: &Named<Array>,
    texts: &Named<String>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    if path.extension().is_some_and(|ending| ending == "npz") {
        let message = "archives of NumPy arrays are not written: name it `.safetensors`";
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message));
    }
    if path.extension().is_none_or(|ending| ending != "npy") {
        return safetensors::write_with_texts(arrays, texts, out);
    }
    let mut values = arrays.values();
    match (values.next(), values.next(), texts.is_empty()) {
        (Some(array), None, true) => npy::write(array, out),
        _ => {
            let names: Vec<&str> = arrays.keys().chain(texts.keys()).map(String::as_str).collect();
            let message = format!(
                "a NumPy file holds one array, and the outputs are {}: name it `.safetensors`",
                names.join(", ")
            );
            Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, arrays: &Named<Array>) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        write_tensors(Path::new(name), arrays, &Named::new(), &mut bytes).map(|()| bytes)
    }

    #[test]
    fn one_array_is_the_one_input_and_the_one_output() {
        let array = Array::floats(&[1, 2], &[1.0, 2.0]).unwrap();
        let mut arrays = Named::from([("output_0".to_owned(), array.clone())]);
        let file = written("y.npy", &arrays).unwrap();
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(read_tensors(&file, &names(&["x"])).unwrap()["x"], array.view());
        assert_eq!(read_tensors(&file, &names(&["a", "b"])), Err(TensorFileError::NotOneInput(names(&["a", "b"]))));
        let file = written("y.safetensors", &arrays).unwrap();
        assert!(!is_npy(&file));
        assert_eq!(read_tensors(&file, &[]).unwrap()["output_0"], array.view());
        arrays.insert("output_1".to_owned(), array.clone());
        assert!(written("y.npy", &arrays).unwrap_err().to_string().contains("output_0, output_1"));
        assert!(written("y.npz", &arrays).unwrap_err().to_string().contains(".safetensors"));
    }
}
