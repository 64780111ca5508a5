//! The diagnostic itself.

use serde::Serialize;

use crate::{Code, Span};

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The command failed to do its work.
    Error,
    /// The command did its work, with a limitation.
    Warning,
    /// Worth knowing.
    Note,
}

/// A finding: the problem, its place in a file, and a hint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Diagnostic {
    /// The stable code.
    pub code: Code,
    /// The severity.
    pub severity: Severity,
    /// A plain sentence without a full stop that names the faulty thing.
    pub message: String,
    /// The place in a file or on the command line.
    pub span: Option<Box<Span>>,
    /// The hint: a step that the user can take.
    pub help: Option<String>,
    /// Further facts, a sentence each.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// An error.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message.into())
    }

    /// A warning.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message.into())
    }

    fn new(code: Code, severity: Severity, message: String) -> Self {
        Self { code, severity, message, span: None, help: None, notes: Vec::new() }
    }

    /// Points at a place.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(Box::new(span));
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Message, notes and help, a line each, for renderers with a single text field.
    pub fn paragraph(&self) -> String {
        let more = self.notes.iter().chain(&self.help);
        std::iter::once(&self.message).chain(more).map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(span) = &self.span {
            write!(formatter, "{span}: ")?;
        }
        write!(formatter, "{} [{}]", self.message, self.code)
    }
}

impl std::error::Error for Diagnostic {}

/// The exit code of a command that reported `diagnostics`: the code of the first error, 0 without errors.
pub fn exit_code(diagnostics: &[Diagnostic]) -> u8 {
    let first = diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error);
    first.map_or(0, |diagnostic| diagnostic.code.failure().exit_code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_prints_on_one_line() {
        let diagnostic =
            Diagnostic::error(Code::UnknownKey, "unknown key `nmae`").at(Span::file("a.yaml")).help("name");
        assert_eq!(diagnostic.to_string(), "a.yaml:1:1: unknown key `nmae` [ETB0107]");
    }

    #[test]
    fn the_first_error_decides() {
        let warning = Diagnostic::warning(Code::ToolMissing, "no qemu");
        let error = Diagnostic::error(Code::UnknownKey, "no such key");
        let later = Diagnostic::error(Code::RunFailed, "crashed");
        assert_eq!(exit_code(&[warning.clone(), error, later]), 3);
        assert_eq!(exit_code(&[warning]), 0);
    }
}
