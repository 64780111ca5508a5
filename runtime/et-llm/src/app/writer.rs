//! Text on the output as tokens come.

use super::channels::Channels;
use crate::{AnswerText, Error, Text};

/// Writes the text of an answer up to a stop text.
pub struct Writer<'t> {
    /// The tokenizer; `None` where tokens are wanted.
    text: Option<&'t dyn Text>,
    answer: AnswerText,
}

impl<'t> Writer<'t> {
    /// A writer of an answer that ends ahead of one of `stops`.
    pub fn new(text: Option<&'t dyn Text>, stops: &[String]) -> Self {
        Self { text, answer: AnswerText::new(Vec::new(), stops.to_vec()) }
    }

    /// Writes the text that a token makes certain; returns whether the answer has a stop text.
    pub fn push(&mut self, token: u32, channels: &mut Channels<'_>) -> Result<bool, Error> {
        let Some(text) = self.text else { return Ok(false) };
        let piece = self.answer.push(text, token)?;
        if !piece.is_empty() {
            channels.out.write_all(piece.as_bytes())?;
            channels.out.flush()?;
        }
        Ok(self.answer.is_stopped())
    }

    /// Writes the rest of the text, and a line break.
    pub fn finish(mut self, channels: &mut Channels<'_>) -> Result<(), Error> {
        let Some(text) = self.text else { return Ok(()) };
        channels.out.write_all(self.answer.finish(text)?.as_bytes())?;
        Ok(writeln!(channels.out)?)
    }
}
