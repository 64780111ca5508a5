//! The draft of speculative decoding.

use crate::Error;

/// Proposes tokens that may follow a text. Rejected tokens cost time and do not change the text.
pub trait Proposer {
    /// Begins a text.
    fn begin(&mut self);

    /// Appends at most `most` draft tokens after `text` to `guesses`. Since [`Self::begin`], each text begins with the
    /// previous text.
    ///
    /// # Errors
    /// The failure of the draft, such as the failure of a draft model.
    fn propose(&mut self, text: &[u32], most: usize, guesses: &mut Vec<u32>) -> Result<(), Error>;

    /// Reports the number of accepted tokens before the first rejected token.
    fn judged(&mut self, guesses: usize, right: usize);
}
