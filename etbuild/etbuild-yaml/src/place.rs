//! Where a node was written.

use std::fmt;
use std::sync::Arc;

use etbuild_diagnostic::{Position, Span};

/// A text with its origin.
#[derive(PartialEq, Eq, Hash)]
pub struct Source {
    file: Option<String>,
    text: Arc<str>,
    line_starts: Vec<usize>,
}

impl Source {
    /// The text of a file.
    pub fn file(file: impl Into<String>, text: Arc<str>) -> Arc<Self> {
        Self::new(Some(file.into()), text)
    }

    /// A text from the command line.
    pub fn command_line(text: &str) -> Arc<Self> {
        Self::new(None, text.into())
    }

    fn new(file: Option<String>, text: Arc<str>) -> Arc<Self> {
        let after_breaks = text.match_indices('\n').map(|(byte, _)| byte + 1);
        let line_starts = std::iter::once(0).chain(after_breaks).collect();
        Arc::new(Self { file, text, line_starts })
    }

    /// The name of the file; `None` for the command line.
    pub fn name(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line with this number, from 1, without its line break; empty after the last line.
    fn line(&self, number: u32) -> &str {
        let start = (number as usize).checked_sub(1).and_then(|index| self.line_starts.get(index));
        let rest = start.and_then(|start| self.text.get(*start..)).unwrap_or_default();
        rest.split(['\n', '\r']).next().unwrap_or_default()
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name().unwrap_or("command line"))
    }
}

/// A range of characters in a [`Source`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Place {
    source: Arc<Source>,
    start: Position,
    end: Position,
}

impl Place {
    /// The characters from `start` up to `end`.
    pub fn new(source: &Arc<Source>, start: Position, end: Position) -> Self {
        Self { source: Arc::clone(source), start, end }
    }

    /// The first character of `source`.
    pub fn start_of(source: &Arc<Source>) -> Self {
        Self::new(source, Position::START, Position::START)
    }

    /// The text that the place lies in.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The span of the place for diagnostics, with its source line.
    pub fn span(&self) -> Span {
        let line = self.source.line(self.start.line);
        Span { file: self.source.file.clone(), start: self.start, end: self.end, excerpt: None }.with_excerpt(line)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}:{}:{}", self.source, self.start.line, self.start.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_shows_its_line_whatever_the_line_breaks() {
        let source = Source::file("a.yaml", "one\r\ntwo\nthree".into());
        let shown = |line| Place::new(&source, Position::new(line, 1), Position::new(line, 2)).span().excerpt;
        assert_eq!(shown(1).as_deref(), Some("one"));
        assert_eq!(shown(2).as_deref(), Some("two"));
        assert_eq!(shown(3).as_deref(), Some("three"));
        assert_eq!(shown(9).as_deref(), Some(""));
    }
}
