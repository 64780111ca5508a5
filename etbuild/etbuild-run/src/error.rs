//! The one error type.

use std::fmt::{Display, Formatter};

/// A failure with the text for a user.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A program cannot be loaded or executed, or an input does not fit.
    Program(et_module::Error),
    /// A language model cannot be loaded, or cannot continue a text.
    #[cfg(feature = "text")]
    Language(et_llm::Error),
    /// An argument is out of range, or names nothing in the program; the text says which.
    Argument(String),
}

impl Error {
    /// Whether the caller's arguments are at fault, and not the program file.
    pub const fn is_argument(&self) -> bool {
        matches!(self, Self::Argument(_) | Self::Program(et_module::Error::Input { .. }))
    }
}

impl From<et_module::Error> for Error {
    fn from(error: et_module::Error) -> Self {
        Self::Program(error)
    }
}

impl From<et_core::Error> for Error {
    fn from(error: et_core::Error) -> Self {
        Self::Program(error.into())
    }
}

#[cfg(feature = "text")]
impl From<et_llm::Error> for Error {
    fn from(error: et_llm::Error) -> Self {
        match error {
            et_llm::Error::Module(error) => Self::Program(error),
            error => Self::Language(error),
        }
    }
}

impl Display for Error {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Program(error) => error.fmt(formatter),
            #[cfg(feature = "text")]
            Self::Language(error) => error.fmt(formatter),
            Self::Argument(problem) => formatter.write_str(problem),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Program(error) => Some(error),
            #[cfg(feature = "text")]
            Self::Language(error) => Some(error),
            Self::Argument(_) => None,
        }
    }
}
