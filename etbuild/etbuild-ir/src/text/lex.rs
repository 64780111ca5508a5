//! Words, numbers and symbols of printed programs.

use std::borrow::Cow;
use std::str::FromStr;

use super::word::is_word_character;

/// The position and reason of a syntax error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {reason}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The reason, without a full stop.
    pub reason: String,
}

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// A position in a text.
pub(super) struct Cursor<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> Cursor<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { text, position: 0 }
    }

    /// An error at the current position.
    pub(super) fn error<T>(&self, reason: impl Into<String>) -> Result<T> {
        let before = self.text.get(..self.position).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Err(ParseError {
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            reason: reason.into(),
        })
    }

    /// The next character of the line.
    pub(super) fn peek(&mut self) -> Option<char> {
        let blanks = self.rest().bytes().take_while(|byte| *byte == b' ').count();
        self.position += blanks;
        self.rest().chars().next()
    }

    /// Consumes `symbol` if next.
    pub(super) fn accept(&mut self, symbol: char) -> bool {
        let found = self.peek() == Some(symbol);
        self.position += if found { symbol.len_utf8() } else { 0 };
        found
    }

    /// Consumes `symbol`, or fails.
    pub(super) fn expect(&mut self, symbol: char) -> Result<()> {
        if self.accept(symbol) { Ok(()) } else { self.error(format!("expected `{symbol}`")) }
    }

    /// Consumes the word `word` if next.
    pub(super) fn accept_word(&mut self, word: &str) -> bool {
        self.peek();
        let found = self.word_ahead() == word;
        self.position += if found { word.len() } else { 0 };
        found
    }

    /// Consumes the word `word`, or fails.
    pub(super) fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.accept_word(word) { Ok(()) } else { self.error(format!("expected `{word}`")) }
    }

    /// Consumes a word.
    pub(super) fn word(&mut self) -> Result<&'t str> {
        self.peek();
        let word = self.word_ahead();
        if word.is_empty() {
            return self.error("expected a word");
        }
        self.position += word.len();
        Ok(word)
    }

    /// Consumes a word and parses the word as a `T`.
    pub(super) fn number<T: FromStr>(&mut self) -> Result<T> {
        self.peek();
        match self.word_ahead().parse() {
            Ok(number) => {
                self.position += self.word_ahead().len();
                Ok(number)
            }
            Err(_) => self.error("expected a number in range"),
        }
    }

    /// Consumes a word or a quoted text.
    pub(super) fn name(&mut self) -> Result<Cow<'t, str>> {
        if self.peek() == Some('"') { self.quoted() } else { self.word().map(Cow::Borrowed) }
    }

    /// Consumes a quoted text.
    pub(super) fn quoted(&mut self) -> Result<Cow<'t, str>> {
        self.expect('"')?;
        let plain = self.rest().find(['"', '\\', '\n']).unwrap_or(self.rest().len());
        if self.rest()[plain..].starts_with('"') {
            let text = &self.rest()[..plain];
            self.position += plain + 1;
            return Ok(Cow::Borrowed(text));
        }
        self.escaped().map(Cow::Owned)
    }

    /// Consumes items between brackets, separated by commas. The opening bracket is consumed already.
    pub(super) fn list<T>(&mut self, close: char, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = Vec::new();
        while !self.accept(close) {
            if !items.is_empty() {
                self.expect(',')?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Consumes the end of the line.
    pub(super) fn end_of_line(&mut self) -> Result<()> {
        if self.peek().is_none() || self.accept('\n') { Ok(()) } else { self.error("expected the end of the line") }
    }

    /// Whether the text is consumed.
    pub(super) fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn word_ahead(&self) -> &'t str {
        let rest = self.rest();
        &rest[..rest.find(|character| !is_word_character(character)).unwrap_or(rest.len())]
    }

    fn escaped(&mut self) -> Result<String> {
        let mut text = String::new();
        loop {
            match self.next_character() {
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escape()?),
                None | Some('\n') => return self.error("the quoted text is not closed"),
                Some(plain) => text.push(plain),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        match self.next_character() {
            Some(quoted @ ('"' | '\\')) => Ok(quoted),
            Some('u') => self.code_point(),
            _ => self.error("no such escape"),
        }
    }

    fn code_point(&mut self) -> Result<char> {
        self.expect('{')?;
        let number = u32::from_str_radix(self.word()?, 16).ok();
        self.expect('}')?;
        number.and_then(char::from_u32).map_or_else(|| self.error("no such character"), Ok)
    }

    fn next_character(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.position += character.len_utf8();
        Some(character)
    }
}
