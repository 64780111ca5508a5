//! For people: the message, the source line, a caret under the place.

use annotate_snippets::renderer::{AnsiColor, Effects};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::{Diagnostic, Severity, Span};

/// The file name of text from the command line.
const COMMAND_LINE: &str = "command line";

/// Every diagnostic as a block of lines, an empty line between two; with ANSI colours where `colour`.
pub fn human(diagnostics: &[Diagnostic], colour: bool) -> String {
    let renderer = if colour { styled() } else { Renderer::plain() };
    let blocks: Vec<String> = diagnostics.iter().map(|diagnostic| block(&renderer, diagnostic)).collect();
    blocks.join("\n\n")
}

fn styled() -> Renderer {
    let help = AnsiColor::Cyan.on_default().effects(Effects::BOLD);
    Renderer::styled().help(help)
}

fn block(renderer: &Renderer, diagnostic: &Diagnostic) -> String {
    let title = level(diagnostic.severity).primary_title(diagnostic.message.as_str()).id(diagnostic.code.id());
    let mut group = Group::with_title(title);
    if let Some(span) = &diagnostic.span {
        group = place(group, span);
    }
    let notes = diagnostic.notes.iter().map(|note| Level::NOTE.message(note.as_str()));
    let help = diagnostic.help.iter().map(|help| Level::HELP.message(help.as_str()));
    renderer.render(&[group.elements(notes).elements(help)])
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    }
}

fn place<'a>(group: Group<'a>, span: &'a Span) -> Group<'a> {
    let path = span.file.as_deref().unwrap_or(COMMAND_LINE);
    let line = span.start.line as usize;
    let Some(excerpt) = &span.excerpt else {
        return group.element(Origin::path(path).line(line).char_column(span.start.column as usize));
    };
    let annotation = AnnotationKind::Primary.span(marked(span, excerpt));
    group.element(Snippet::source(excerpt.as_str()).line_start(line).path(path).annotation(annotation))
}

/// The bytes of `excerpt` to underline: at least a character, at most to the end of the line.
fn marked(span: &Span, excerpt: &str) -> std::ops::Range<usize> {
    let last = if span.end.line == span.start.line { span.end.column } else { u32::MAX };
    let start = byte_of(excerpt, span.start.column);
    let end = byte_of(excerpt, last.max(span.start.column.saturating_add(1)));
    start..end.max(start)
}

fn byte_of(text: &str, column: u32) -> usize {
    let skipped = (column as usize).saturating_sub(1);
    text.char_indices().nth(skipped).map_or(text.len(), |(byte, _)| byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample::unknown_key;
    use crate::{Code, Position};

    #[test]
    fn the_caret_stands_under_the_place() {
        let text = human(&[unknown_key()], false);
        let expected = "\
error[ETB0107]: unknown key `quantise`
 --> my recipes/a,b.yaml:4:1
  |
4 | quantise: { scheme: int8 }
  | ^^^^^^^^
  |
  = note: 100% of keys
          are checked
  = help: did you mean `quantize`?";
        assert_eq!(text, expected);
    }

    #[test]
    fn colour_only_adds_escapes() {
        let plain = human(&[unknown_key()], false);
        let coloured = human(&[unknown_key()], true);
        assert!(coloured.contains("\u{1b}[") && !plain.contains('\u{1b}'));
    }

    #[test]
    fn a_place_past_the_line_or_without_one_still_renders() {
        let far = Span::new("a", Position::new(1, 99), Position::new(2, 1)).with_excerpt("é");
        let bare = Diagnostic::error(Code::FileMissing, "gone").at(Span::file("b"));
        let text = human(&[Diagnostic::error(Code::YamlSyntax, "odd").at(far), bare], false);
        assert!(text.contains("--> b:1:1") && text.contains("error[ETB0101]: odd"));
    }
}
