//! A prefix that several texts share: the KV cache of one model becomes that of another, without reading the tokens again.

use crate::model::{common_prefix, text_of};
use crate::{Error, Model};

impl Model {
    /// How many tokens at the beginning of a text another model of the same program can take from this one with [`Self::take_prefix`], once
    /// this one has read `tokens`: those ahead of the first picture. None where a text encoder has read the prompt, and where a ring buffer
    /// has overwritten tokens that the prefix needs again, or a state space has read more, as in [`Self::kept`].
    pub fn offered(&self, tokens: &[u32], text: &[u32]) -> usize {
        // The last token of a text is always read, for its logits.
        let same = common_prefix(text_of(tokens), text).min(text.len().saturating_sub(1));
        let has_forgotten = self.has_forgotten(self.written().max(tokens.len()), tokens.len(), same);
        if self.has_text_encoder() || has_forgotten { 0 } else { same }
    }

    /// Becomes a model that has read the first `count` tokens of another one of the same program, of those that [`Self::offered`] counts
    /// for the tokens that the other one has read.
    ///
    /// # Errors
    /// A model of another program; state that a device does not give out. The text of this model can only be begun anew then.
    pub fn take_prefix(&mut self, from: &Self, count: usize) -> Result<(), Error> {
        self.reset();
        // A ring buffer that has wrapped around has the prefix at any slot.
        let written = if from.has_wrapped(from.written()) { from.written() } else { count };
        for name in from.methods_state().state_names()? {
            self.methods_state_mut().copy_state(from.methods_state(), &name, written)?;
        }
        self.go_on(from.tokens().iter().take(count).copied().collect(), written);
        Ok(())
    }
}
