//! An answer: tokens to text, and text to the pieces of an answer.

use crate::{AnswerReader, Certain, Error, Piece, Stops, Text, TextStream};

/// Turns the tokens of an answer into text as tokens come, up to a stop text.
#[derive(Debug, Default)]
pub struct AnswerText {
    stream: TextStream,
    /// Special tokens that are text in this answer: decoders leave special tokens out.
    shown: Vec<(u32, &'static str)>,
    stops: Stops,
    is_stopped: bool,
}

impl AnswerText {
    /// The text of an answer that ends ahead of one of `stops`.
    pub fn new(shown: Vec<(u32, &'static str)>, stops: Vec<String>) -> Self {
        Self { stream: TextStream::default(), shown, stops: Stops::new(stops), is_stopped: false }
    }

    /// The text that a further token makes certain.
    ///
    /// # Errors
    /// Errors of the tokenizer.
    pub fn push(&mut self, text: &dyn Text, token: u32) -> Result<String, Error> {
        let shown = self.shown.iter().find(|(shown, _)| *shown == token).map(|(_, name)| *name);
        let piece = match shown {
            None => self.stream.push(text, token)?,
            Some(name) => std::mem::take(&mut self.stream).finish(text)? + name,
        };
        Ok(self.search(&piece))
    }

    /// The remaining text at the end of the answer.
    ///
    /// # Errors
    /// Errors of the tokenizer.
    pub fn finish(&mut self, text: &dyn Text) -> Result<String, Error> {
        if self.is_stopped {
            return Ok(String::new());
        }
        let piece = self.stream.finish(text)?;
        let certain = self.search(&piece);
        Ok(if self.is_stopped { certain } else { certain + &self.stops.finish() })
    }

    /// Whether a stop text was found, which ends the answer.
    pub const fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    fn search(&mut self, piece: &str) -> String {
        let Certain { text, is_stopped, .. } = self.stops.push(piece);
        self.is_stopped |= is_stopped;
        text
    }
}

/// Turns the tokens of an answer into pieces as tokens come.
pub struct AnswerPieces {
    text: AnswerText,
    reader: Box<dyn AnswerReader>,
}

impl AnswerPieces {
    /// The pieces that `reader` finds in a text.
    pub const fn new(text: AnswerText, reader: Box<dyn AnswerReader>) -> Self {
        Self { text, reader }
    }

    /// The pieces that a further token makes certain.
    ///
    /// # Errors
    /// Errors of the tokenizer.
    pub fn push(&mut self, text: &dyn Text, token: u32) -> Result<Vec<Piece>, Error> {
        Ok(self.reader.push(&self.text.push(text, token)?))
    }

    /// The remaining pieces at the end of the answer.
    ///
    /// # Errors
    /// Errors of the tokenizer.
    pub fn finish(&mut self, text: &dyn Text) -> Result<Vec<Piece>, Error> {
        let mut pieces = self.reader.push(&self.text.finish(text)?);
        pieces.extend(self.reader.finish());
        Ok(pieces)
    }

    /// Whether a stop text was found, which ends the answer.
    pub const fn is_stopped(&self) -> bool {
        self.text.is_stopped()
    }
}
