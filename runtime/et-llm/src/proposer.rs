//! Who guesses how a text goes on.

use crate::Error;

/// Guesses tokens that may follow a text. Guesses that are wrong cost time and change nothing.
pub trait Proposer {
    /// The text from now on may be another one than before.
    fn begin(&mut self);

    /// Adds at most `most` tokens to `guesses` that may follow `text`. Since [`Self::begin`], each text begins with the one before.
    ///
    /// # Errors
    /// What keeps it from guessing at all.
    fn propose(&mut self, text: &[u32], most: usize, guesses: &mut Vec<u32>) -> Result<(), Error>;

    /// So many of the last guesses were right, those ahead of the first wrong one.
    fn judged(&mut self, guesses: usize, right: usize);
}
