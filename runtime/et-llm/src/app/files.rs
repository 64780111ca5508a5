//! Files of tokens and of logits.

use std::fs;
use std::path::Path;

use et_core::ScalarType;
use et_module::Array;

use crate::Error;

/// Reads tokens: numbers separated by spaces.
pub fn read_tokens(path: &Path) -> Result<Vec<u32>, Error> {
    let text = read_text(path)?;
    let token = |word: &str| word.parse().map_err(|_| failed(path, &format!("`{word}` is no token")));
    text.split_whitespace().map(token).collect()
}

/// Reads a text.
pub fn read_text(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|error| failed(path, &error))
}

/// Tokens as a line.
pub fn line(tokens: &[u32]) -> String {
    let words: Vec<String> = tokens.iter().map(u32::to_string).collect();
    words.join(" ") + "\n"
}

/// Writes tokens.
pub fn write_tokens(path: &Path, tokens: &[u32]) -> Result<(), Error> {
    fs::write(path, line(tokens)).map_err(|error| failed(path, &error))
}

/// Rows of logits.
#[derive(Debug, Default)]
pub struct Rows {
    bytes: Vec<u8>,
    count: usize,
}

impl Rows {
    /// A further row.
    pub fn push(&mut self, logits: &[f32]) {
        self.bytes.extend(logits.iter().flat_map(|logit| logit.to_le_bytes()));
        self.count += 1;
    }

    /// The rows as one array, `float32 [rows, tokens]`.
    pub fn into_array(self) -> Array {
        let width = self.bytes.len() / 4 / self.count.max(1);
        Array { scalar_type: ScalarType::Float, shape: vec![self.count, width], bytes: self.bytes }
    }
}

/// The error for a file.
pub fn failed(path: &Path, problem: &dyn std::fmt::Display) -> Error {
    Error::file(path, problem)
}

/// The error of a picture or a sound, with the path of the file.
pub fn of_file(path: &Path, error: Error) -> Error {
    match error {
        Error::Picture(problem) => Error::Picture(format!("{}: {problem}", path.display())),
        Error::Sound(problem) => Error::Sound(format!("{}: {problem}", path.display())),
        error => error,
    }
}
