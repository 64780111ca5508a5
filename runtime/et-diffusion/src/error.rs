//! Failures of a pipeline.

use std::fmt::{Display, Formatter};
use std::path::PathBuf;

/// A failure with the text for a user.
#[derive(Debug)]
pub enum Error {
    /// A method cannot be loaded or executed.
    Module(et_module::Error),
    /// The tokenizer is missing or refuses the text.
    Text(et_llm::Error),
    /// The program does not have the form of a pipeline.
    NotAPipeline(String),
    /// An option is out of range.
    Option {
        /// The option.
        option: &'static str,
        /// The value.
        value: String,
        /// The allowed values, in words.
        range: String,
    },
    /// The output of a method has elements that are not numbers: the weights are damaged, or a kernel overflowed.
    NoNumbers(&'static str),
    /// A file cannot be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// The failure.
        problem: String,
    },
    /// The reader of the output went away.
    Stream(std::io::Error),
}

impl From<et_module::Error> for Error {
    fn from(error: et_module::Error) -> Self {
        Self::Module(error)
    }
}

impl From<et_llm::Error> for Error {
    fn from(error: et_llm::Error) -> Self {
        Self::Text(error)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Stream(error)
    }
}

impl Display for Error {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Module(error) => error.fmt(formatter),
            Self::Text(error) => error.fmt(formatter),
            Self::NotAPipeline(reason) => write!(formatter, "the program is no diffusion pipeline: {reason}"),
            Self::Option { option, value, range } => write!(formatter, "{option} is {value}, but must be {range}"),
            Self::NoNumbers(method) => {
                write!(
                    formatter,
                    "the output of `{method}` is not a number (NaN) in places; the weights may be damaged"
                )
            }
            Self::File { path, problem } => write!(formatter, "{}: {problem}", path.display()),
            Self::Stream(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for Error {}
