//! Which tokens may follow in a transcript, as the logits processors of `transformers` for Whisper say.

use crate::SpokenTokens;

/// The rules of a window's transcript.
pub struct Rules<'f> {
    /// The special tokens.
    pub spoken: &'f SpokenTokens,
    /// The earliest timestamp, in a transcript with timestamps.
    pub timestamps: Option<usize>,
    /// The token that ends a transcript; text tokens come before.
    pub end: usize,
}

impl Rules<'_> {
    /// Forbids what may not follow the tokens that were picked.
    pub fn apply(&self, logits: &mut [f32], picked: &[u32]) {
        if picked.is_empty() {
            forbid_all(logits, &self.spoken.suppressed_first);
        }
        forbid_all(logits, &self.spoken.suppressed);
        if let Some(first) = self.timestamps {
            self.order(logits, picked, first);
            prefer(logits, first);
        }
    }

    /// Timestamps come in pairs, except ahead of the end, and do not decrease; a transcript begins with a timestamp.
    fn order(&self, logits: &mut [f32], picked: &[u32], first: usize) {
        forbid_all(logits, self.spoken.no_timestamps.as_slice());
        let is_timestamp = |token: &u32| *token as usize >= first;
        let (last, before) = (picked.last(), picked.iter().nth_back(1));
        let (was, was_before) = (last.is_some_and(is_timestamp), before.is_none_or(is_timestamp));
        match (was, was_before) {
            (true, true) => forbid(logits, first, usize::MAX),
            (true, false) => forbid(logits, 0, self.end),
            (false, _) => {}
        }
        if let Some(latest) = picked.iter().rev().find(|token| is_timestamp(token)) {
            let opens = was && !was_before;
            forbid(logits, first, *latest as usize + usize::from(!opens));
        }
        if picked.is_empty() {
            forbid(logits, 0, first);
            if let Some(most) = self.spoken.first_timestamp {
                forbid(logits, first + most as usize + 1, usize::MAX);
            }
        }
    }
}

/// Forbids all but timestamps if timestamps together are likelier than every other token.
fn prefer(logits: &mut [f32], first: usize) {
    let (texts, timestamps) = logits.split_at(first.min(logits.len()));
    let most = |logits: &[f32]| logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let largest = most(timestamps);
    if largest == f32::NEG_INFINITY {
        return;
    }
    let sum: f32 = timestamps.iter().map(|logit| (logit - largest).exp()).sum();
    if largest + sum.ln() > most(texts) {
        forbid(logits, 0, first);
    }
}

fn forbid_all(logits: &mut [f32], tokens: &[u32]) {
    for token in tokens {
        if let Some(logit) = logits.get_mut(*token as usize) {
            *logit = f32::NEG_INFINITY;
        }
    }
}

fn forbid(logits: &mut [f32], start: usize, end: usize) {
    logits.iter_mut().take(end).skip(start).for_each(|logit| *logit = f32::NEG_INFINITY);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens that may follow; 0 to 3 are text, 4 is the end, 5 means no timestamps, 6 to 9 are timestamps.
    fn allowed(picked: &[u32], mut logits: [f32; 10]) -> Vec<usize> {
        let spoken = SpokenTokens {
            no_timestamps: Some(5),
            first_timestamp: Some(1),
            suppressed: vec![3],
            suppressed_first: vec![4],
            ..SpokenTokens::default()
        };
        Rules { spoken: &spoken, timestamps: Some(6), end: 4 }.apply(&mut logits, picked);
        (0..10).filter(|token| logits[*token].is_finite()).collect()
    }

    #[test]
    fn a_transcript_begins_with_an_early_timestamp() {
        assert_eq!(allowed(&[], [0.0; 10]), [6, 7]);
    }

    #[test]
    fn text_follows_and_timestamps_come_in_pairs_that_do_not_decrease() {
        let likely_text = [9.0, 9.0, 9.0, 9.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(allowed(&[7], likely_text), [0, 1, 2, 4]);
        assert_eq!(allowed(&[7, 1], likely_text), [0, 1, 2, 4, 8, 9]);
        assert_eq!(allowed(&[7, 1, 8], likely_text), [4, 8, 9]);
        assert_eq!(allowed(&[7, 1, 8, 8], likely_text), [0, 1, 2, 4]);
    }

    #[test]
    fn likely_timestamps_exclude_text() {
        assert_eq!(allowed(&[7, 1], [0.0; 10]), [8, 9]);
    }
}
