//! Text on the output as tokens come.

use super::channels::Channels;
use crate::{AnswerPieces, AnswerReader, AnswerText, Error, Piece, Text};

/// Writes the thoughts and the text of an answer up to a stop text.
pub struct Writer<'t> {
    /// The tokenizer; `None` where tokens are wanted.
    text: Option<&'t dyn Text>,
    answer: AnswerPieces,
    /// Whether the output gets text as tokens come.
    shows: bool,
    /// The text of the answer so far, without thoughts.
    said: String,
    /// The thoughts so far.
    thought: String,
    /// The end of thoughts that the text has not followed yet.
    thoughts: Option<char>,
}

impl<'t> Writer<'t> {
    /// A writer of an answer whose pieces `reader` finds; the writer collects text and thoughts, and `shows` them or not.
    pub fn new(text: Option<&'t dyn Text>, answer: AnswerText, reader: Box<dyn AnswerReader>, shows: bool) -> Self {
        let (answer, said, thought) = (AnswerPieces::new(answer, reader), String::new(), String::new());
        Self { text, answer, shows, said, thought, thoughts: None }
    }

    /// Writes the text that a token makes certain; returns whether the answer has a stop text.
    pub fn push(&mut self, token: u32, channels: &mut Channels<'_>) -> Result<bool, Error> {
        let Some(text) = self.text else { return Ok(false) };
        let pieces = self.answer.push(text, token)?;
        self.write(pieces, channels)?;
        Ok(self.answer.is_stopped())
    }

    /// Writes the rest of the text, and a line break; returns the text of the answer and the thoughts.
    pub fn finish(mut self, channels: &mut Channels<'_>) -> Result<(String, String), Error> {
        if let Some(text) = self.text {
            let pieces = self.answer.finish(text)?;
            self.write(pieces, channels)?;
            if self.shows {
                writeln!(channels.out)?;
            }
        }
        Ok((self.said, self.thought))
    }

    fn write(&mut self, pieces: Vec<Piece>, channels: &mut Channels<'_>) -> Result<(), Error> {
        if pieces.is_empty() {
            return Ok(());
        }
        for piece in pieces {
            match piece {
                Piece::Thoughts(thoughts) => {
                    self.thoughts = thoughts.chars().next_back().or(self.thoughts);
                    self.thought.push_str(&thoughts);
                    self.show(&thoughts, channels)?;
                }
                Piece::Text(text) => {
                    // An empty line stands between thoughts and text.
                    match self.thoughts.take() {
                        Some('\n') => self.show("\n", channels)?,
                        Some(_) => self.show("\n\n", channels)?,
                        None => {}
                    }
                    self.show(&text, channels)?;
                    self.said.push_str(&text);
                }
                // The command line has no tools.
                Piece::Call(_) => {}
            }
        }
        Ok(channels.out.flush()?)
    }

    fn show(&self, text: &str, channels: &mut Channels<'_>) -> Result<(), Error> {
        if self.shows {
            channels.out.write_all(text.as_bytes())?;
        }
        Ok(())
    }
}
