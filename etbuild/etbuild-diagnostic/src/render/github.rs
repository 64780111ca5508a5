//! For GitHub Actions: workflow commands, which show up beside the changed line.
//!
//! Format: <https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands>.

use crate::{Diagnostic, Severity, Span};

/// A workflow command per line.
pub fn github(diagnostics: &[Diagnostic]) -> String {
    let lines: Vec<String> = diagnostics.iter().map(command).collect();
    lines.join("\n")
}

fn command(diagnostic: &Diagnostic) -> String {
    let place = diagnostic.span.as_deref().map_or_else(String::new, place);
    let name = name(diagnostic.severity);
    format!("::{name} {place}title={}::{}", diagnostic.code, escape(&diagnostic.paragraph()))
}

fn name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    }
}

fn place(span: &Span) -> String {
    let Some(file) = &span.file else { return String::new() };
    let (start, end) = (span.start, span.end);
    let file = escape_property(file);
    format!("file={file},line={},endLine={},col={},endColumn={},", start.line, end.line, start.column, end.column)
}

fn escape(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;
    use crate::render::sample::unknown_key;

    #[test]
    fn separators_in_names_and_texts_are_escaped() {
        let expected = "::error file=my recipes/a%2Cb.yaml,line=4,endLine=4,col=1,endColumn=9,title=ETB0107::\
                        unknown key `quantise`%0A100%25 of keys%0Aare checked%0Adid you mean `quantize`?";
        assert_eq!(github(&[unknown_key()]), expected);
    }

    #[test]
    fn a_diagnostic_without_a_file_has_no_file() {
        let diagnostic = Diagnostic::warning(Code::BadOverride, "odd").at(Span::command_line("a"));
        assert_eq!(github(&[diagnostic]), "::warning title=ETB0802::odd");
    }
}
