//! Failures on a hosted machine.

use std::fmt::{Display, Formatter};
use std::path::PathBuf;

use et_runtime::{Failure, Place};

use crate::{ClassesError, TensorFileError};

/// A failure with the text for a user.
#[derive(Debug)]
pub enum Error {
    /// A file cannot be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A file of inputs is malformed, or does not fit the method.
    Inputs {
        /// The file.
        path: PathBuf,
        /// The mistake in the file.
        source: TensorFileError,
    },
    /// A data file cannot be used.
    DataFile {
        /// The file.
        path: PathBuf,
        /// The mistake in the file.
        problem: String,
    },
    /// A tensor that the program expects in a data file is missing or does not fit.
    ExternalTensor {
        /// The tensor's name in the model.
        name: String,
        /// The mismatch.
        problem: String,
    },
    /// The program has no method of this name.
    MethodMissing {
        /// The name.
        name: String,
        /// The names of the program's methods.
        methods: Vec<String>,
    },
    /// The program calls operators that no kernel was given for.
    OperatorsMissing(Vec<String>),
    /// The program calls these operators, and the binary was linked for another program.
    OtherOperators(Vec<String>),
    /// The program needs backends that this binary does not have.
    DelegatesMissing(Vec<String>),
    /// The program cannot be loaded or executed.
    Program {
        /// The error and the place.
        failure: Failure,
        /// The operator of a failed kernel call.
        operator: Option<String>,
        /// The failure of a delegate in the words of its backend.
        problem: Option<String>,
    },
    /// An input is missing or does not fit.
    Input {
        /// The input.
        name: String,
        /// The mismatch.
        problem: String,
    },
    /// The output has no classes to tell.
    Classes(ClassesError),
    /// The outputs of several cases cannot be stacked.
    Output(String),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Program { failure, operator: None, problem: None }
    }
}

impl From<et_core::Error> for Error {
    fn from(error: et_core::Error) -> Self {
        Place::Method.failure(error).into()
    }
}

impl Display for Error {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File { path, source } => write!(formatter, "{}: {source}", path.display()),
            Self::Inputs { path, source } => write!(formatter, "{}: {source}", path.display()),
            Self::DataFile { path, problem } => write!(formatter, "{}: {problem}", path.display()),
            Self::ExternalTensor { name, problem } => write!(formatter, "tensor {name}: {problem}"),
            Self::MethodMissing { name, methods } => {
                write!(formatter, "no method {name}; there are: {}", methods.join(", "))
            }
            Self::OperatorsMissing(names) => write!(formatter, "no kernel for {}", names.join(", ")),
            Self::OtherOperators(names) => {
                write!(formatter, "linked for another program than this, which calls {}", names.join(", "))
            }
            Self::DelegatesMissing(names) => write!(formatter, "no delegate for {}", names.join(", ")),
            Self::Program { failure, operator, problem } => {
                program_place(formatter, failure, operator.as_deref())?;
                formatter.write_str(problem.as_deref().unwrap_or_else(|| failure.error.message()))
            }
            Self::Input { name, problem } => write!(formatter, "input {name}: {problem}"),
            Self::Classes(error) => error.fmt(formatter),
            Self::Output(problem) => formatter.write_str(problem),
        }
    }
}

impl std::error::Error for Error {}

fn program_place(formatter: &mut Formatter<'_>, failure: &Failure, operator: Option<&str>) -> std::fmt::Result {
    match failure.place {
        Place::Method => {}
        Place::Value(index) => write!(formatter, "value {index}: ")?,
        Place::Delegate(index) => write!(formatter, "delegate {index}: ")?,
        Place::Instruction(index) => write!(formatter, "instruction {index}: ")?,
    }
    if let Some(operator) = operator {
        write!(formatter, "{operator}: ")?;
    }
    Ok(())
}
