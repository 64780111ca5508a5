//! The source of guesses for speculative decoding.

use crate::Error;

/// Guesses tokens that may follow a text. Wrong guesses cost time and do not change the text.
pub trait Proposer {
    /// Begins a text, perhaps another text than before.
    fn begin(&mut self);

    /// Adds at most `most` tokens to `guesses` that may follow `text`. Since [`Self::begin`], each text begins with the text before.
    ///
    /// # Errors
    /// The failure of the source, such as the failure of a draft model.
    fn propose(&mut self, text: &[u32], most: usize, guesses: &mut Vec<u32>) -> Result<(), Error>;

    /// Reports the number of correct guesses ahead of the first wrong guess.
    fn judged(&mut self, guesses: usize, right: usize);
}
