//! Failures as exceptions: `etbuild.Error` with a code, a sentence and perhaps a hint.

use et_llm::Error as LanguageError;
use et_module::Error;
use etbuild_diagnostic::Code;
use etbuild_run::Error as RunError;
use pyo3::prelude::*;

/// The exception for a failure of a program, or for arguments that do not fit.
pub fn run_failed(py: Python<'_>, error: &RunError) -> PyErr {
    match error {
        RunError::Program(error) => failed(py, error),
        RunError::Language(error) => language_failed(py, error),
        other => input_error(py, &other.to_string()),
    }
}

/// The exception for a failure of a program.
pub fn failed(py: Python<'_>, error: &Error) -> PyErr {
    let class = if matches!(error, Error::Input { .. }) { "InputError" } else { "Error" };
    raised(py, class, code(error), &error.to_string(), hint(error))
}

/// The exception for a failure of a language model.
pub fn language_failed(py: Python<'_>, error: &LanguageError) -> PyErr {
    if let LanguageError::Module(error) = error {
        return failed(py, error);
    }
    let (class, code) = match error {
        LanguageError::ContextFull { .. }
        | LanguageError::UnknownToken { .. }
        | LanguageError::NoTokens
        | LanguageError::Picture(_)
        | LanguageError::Sound(_) => ("InputError", Code::InputsMismatch),
        LanguageError::NotALanguageModel(_)
        | LanguageError::NoTokenizer
        | LanguageError::NoTemplate
        | LanguageError::NoVerify
        | LanguageError::NoAdapter
        | LanguageError::NoVision
        | LanguageError::Marks { .. }
        | LanguageError::NoHearing
        | LanguageError::NoWords
        | LanguageError::NoSound
        | LanguageError::NoTranscripts
        | LanguageError::OneLanguage
        | LanguageError::UnknownLanguage { .. }
        | LanguageError::Draft { .. } => ("Error", Code::Usage),
        _ => ("Error", Code::RunFailed),
    };
    raised(py, class, code, &error.to_string(), language_hint(error))
}

const fn language_hint(error: &LanguageError) -> Option<&'static str> {
    match error {
        LanguageError::Picture(_) => {
            Some("a picture is a PNG or a JPEG file, a `PIL.Image`, or an array of uint8 [height, width, 3]")
        }
        LanguageError::Sound(_) => Some("a recording is a WAV file, or a pair of samples and their rate"),
        LanguageError::NoWords => Some("compile the model with `options={\"export.word_timestamps\": True}`"),
        LanguageError::NoAdapter => Some("`etbuild deploy` makes such a program of a recipe with `adapter`"),
        LanguageError::NoSound => Some("call `transcribe` with a recording"),
        LanguageError::NoHearing | LanguageError::NoTranscripts => Some("docs/speech.md lists the models that hear"),
        LanguageError::NoVision => Some("docs/vision-language.md lists the models that read pictures"),
        LanguageError::Marks { .. } => {
            Some("give one of `images` or `audio` for each mark, in the order of the marks, or use parts")
        }
        LanguageError::OneLanguage => Some("leave `language` and `task` out"),
        LanguageError::UnknownLanguage { .. } => {
            Some("give the code of a language, or none for the one that the model hears")
        }
        _ => None,
    }
}

/// The exception for arguments that do not fit a method.
pub fn input_error(py: Python<'_>, problem: &str) -> PyErr {
    raised(py, "InputError", Code::InputsMismatch, problem, None)
}

/// The exception for a call that does not fit the state.
pub fn usage(py: Python<'_>, problem: &str) -> PyErr {
    raised(py, "Error", Code::Usage, problem, None)
}

/// An exception of the package's Python part.
fn raised(py: Python<'_>, class: &str, code: Code, problem: &str, hint: Option<&str>) -> PyErr {
    let made = py.import("etbuild.errors").and_then(|module| module.getattr(class)?.call1((code.id(), problem, hint)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// The code of the command `etbuild run` for the same failure.
const fn code(error: &Error) -> Code {
    match error {
        Error::Input { .. } | Error::Inputs { .. } => Code::InputsMismatch,
        Error::Classes(_) => Code::LabelsMismatch,
        Error::OperatorsMissing(_) | Error::DelegatesMissing(_) => Code::OperatorUnavailable,
        Error::File { .. } => Code::FileUnreadable,
        Error::MethodMissing { .. } => Code::Usage,
        Error::Program { operator: None, problem: None, .. }
        | Error::DataFile { .. }
        | Error::ExternalTensor { .. } => Code::ProgramFileMalformed,
        _ => Code::RunFailed,
    }
}

const fn hint(error: &Error) -> Option<&'static str> {
    match error {
        Error::Program { operator: None, problem: None, .. } => {
            Some("the file is cut or damaged, or of another format: build it again, or download it again")
        }
        Error::OperatorsMissing(_) | Error::DelegatesMissing(_) => Some(
            "export it for the portable kernels, or build the `.pt2` model with etbuild; kernels of custom operators are in the \
                 binary of `etbuild deploy` alone",
        ),
        _ => None,
    }
}
