//! A place in a text.

use serde::Serialize;

/// The limit of an excerpt in characters; the rest of a longer line is cut.
const EXCERPT: usize = 160;

/// A line and a column, both counted from 1; columns are Unicode characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Position {
    /// The first character of a text.
    pub const START: Self = Self { line: 1, column: 1 };

    /// The position at `line` and `column`, both from 1.
    pub fn new(line: u32, column: u32) -> Self {
        Self { line, column }
    }
}

/// A range of characters in a file or on the command line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Span {
    /// The file's path as the user wrote the path; `None` for text from the command line.
    pub file: Option<String>,
    /// The first character.
    pub start: Position,
    /// The position after the last character.
    pub end: Position,
    /// The source line of `start`, cut if the line is very long.
    pub excerpt: Option<String>,
}

impl Span {
    /// The characters from `start` up to `end` in `file`.
    pub fn new(file: impl Into<String>, start: Position, end: Position) -> Self {
        Self { file: Some(file.into()), start, end, excerpt: None }
    }

    /// A span of the whole file, at its first character.
    pub fn file(file: impl Into<String>) -> Self {
        Self::new(file, Position::START, Position::START)
    }

    /// A span of `text` from the command line.
    pub fn command_line(text: &str) -> Self {
        let end = Position::new(1, text.chars().count().saturating_add(1).try_into().unwrap_or(u32::MAX));
        Self { file: None, start: Position::START, end, excerpt: None }.with_excerpt(text)
    }

    /// Adds the source line as an excerpt. A line whose visible part ends before the span is left out.
    #[must_use]
    pub fn with_excerpt(mut self, line: &str) -> Self {
        let visible = (self.start.column as usize) <= EXCERPT;
        self.excerpt = visible.then(|| line.chars().take(EXCERPT).collect());
        self
    }
}

impl std::fmt::Display for Span {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.file {
            Some(file) => write!(formatter, "{file}:{}:{}", self.start.line, self.start.column),
            None => formatter.write_str("command line"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_prints_as_editors_read_it() {
        assert_eq!(Span::new("a.yaml", Position::new(3, 7), Position::new(3, 9)).to_string(), "a.yaml:3:7");
        assert_eq!(Span::command_line("name=x").to_string(), "command line");
    }

    #[test]
    fn an_excerpt_is_bounded() {
        let long = "x".repeat(10_000);
        let near = Span::file("a").with_excerpt(&long);
        assert_eq!(near.excerpt.map(|line| line.len()), Some(EXCERPT));
        let far = Span::new("a", Position::new(1, 5_000), Position::new(1, 5_001)).with_excerpt(&long);
        assert_eq!(far.excerpt, None);
    }
}
