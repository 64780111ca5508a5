//! The options of sampling.

use crate::Error;

/// How tokens are picked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// The divisor of the logits; 0 takes the most probable token each time.
    pub temperature: f32,
    /// The number of most probable tokens to pick from; 0 for all.
    pub top_k: usize,
    /// Only the most probable tokens that make up this share come into question; 1 for all.
    pub top_p: f32,
    /// Only tokens with at least this share of the largest probability come into question; 0 for all.
    pub min_p: f32,
    /// Only the tokens whose information is nearest to the entropy, and which make up this share, come into question; 1 for all.
    pub typical_p: f32,
    /// The divisor of positive logits, and the factor of negative logits, of tokens that the text has; 1 for no penalty.
    pub repetition_penalty: f32,
    /// The number that is subtracted from the logits of tokens that the answer has, once for each occurrence; 0 for no penalty.
    pub frequency_penalty: f32,
    /// The number that is subtracted from the logits of tokens that the answer has; 0 for no penalty.
    pub presence_penalty: f32,
    /// The length of token sequences that never come twice; 0 for any repetition.
    pub no_repeat_ngram_size: usize,
    /// The seed of the random numbers.
    pub seed: u64,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            temperature: 0.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            typical_p: 1.0,
            repetition_penalty: 1.0,
            frequency_penalty: 0.0,
            presence_penalty: 0.0,
            no_repeat_ngram_size: 0,
            seed: 0,
        }
    }
}

impl Sampling {
    /// Whether options against repetition change logits.
    pub(crate) fn changes_logits(&self) -> bool {
        self.repetition_penalty != 1.0
            || self.no_repeat_ngram_size > 0
            || self.frequency_penalty != 0.0
            || self.presence_penalty != 0.0
    }

    /// The same options, if each is in range.
    ///
    /// # Errors
    /// [`Error::Sampling`] for a temperature that is negative or not finite, for a `top_p`, `min_p` or `typical_p` outside of 0 to
    /// 1, for a repetition penalty that is not positive and finite, and for another penalty outside of -2 to 2.
    pub fn checked(self) -> Result<Self, Error> {
        if !self.temperature.is_finite() || self.temperature < 0.0 {
            return Err(Error::Sampling { option: "temperature", value: self.temperature, range: "0 or more" });
        }
        for (option, value) in [("top_p", self.top_p), ("min_p", self.min_p), ("typical_p", self.typical_p)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(Error::Sampling { option, value, range: "from 0 to 1" });
            }
        }
        let penalty = self.repetition_penalty;
        if !penalty.is_finite() || penalty <= 0.0 {
            return Err(Error::Sampling { option: "repetition_penalty", value: penalty, range: "more than 0" });
        }
        let penalties = [("frequency_penalty", self.frequency_penalty), ("presence_penalty", self.presence_penalty)];
        for (option, value) in penalties {
            if !(-2.0..=2.0).contains(&value) {
                return Err(Error::Sampling { option, value, range: "from -2 to 2" });
            }
        }
        Ok(self)
    }
}
