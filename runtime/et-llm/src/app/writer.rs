//! Text on the output as tokens come.

use super::channels::Channels;
use crate::{Certain, Error, Stops, Text, TextStream};

/// Writes the text of an answer up to a stop text.
pub struct Writer<'t> {
    /// The tokenizer; `None` where tokens are wanted.
    text: Option<&'t dyn Text>,
    stream: TextStream,
    stops: Stops,
    is_stopped: bool,
}

impl<'t> Writer<'t> {
    /// A writer of an answer that ends ahead of one of `stops`.
    pub fn new(text: Option<&'t dyn Text>, stops: &[String]) -> Self {
        Self { text, stream: TextStream::default(), stops: Stops::new(stops.to_vec()), is_stopped: false }
    }

    /// Writes the text that a token makes certain; returns whether the answer has a stop text.
    pub fn push(&mut self, token: u32, channels: &mut Channels<'_>) -> Result<bool, Error> {
        let Some(text) = self.text else { return Ok(false) };
        let piece = self.stream.push(text, token)?;
        self.show(&piece, channels)?;
        Ok(self.is_stopped)
    }

    /// Writes the rest of the text, and a line break.
    pub fn finish(mut self, channels: &mut Channels<'_>) -> Result<(), Error> {
        let Some(text) = self.text else { return Ok(()) };
        if !self.is_stopped {
            let piece = self.stream.finish(text)?;
            self.show(&piece, channels)?;
        }
        if !self.is_stopped {
            channels.out.write_all(self.stops.finish().as_bytes())?;
        }
        Ok(writeln!(channels.out)?)
    }

    /// Writes at once.
    fn show(&mut self, piece: &str, channels: &mut Channels<'_>) -> Result<(), Error> {
        let Certain { text, is_stopped, .. } = self.stops.push(piece);
        self.is_stopped |= is_stopped;
        if text.is_empty() {
            return Ok(());
        }
        channels.out.write_all(text.as_bytes())?;
        Ok(channels.out.flush()?)
    }
}
