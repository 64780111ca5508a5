//! Logits of tokens that a text already has.

use crate::Sampling;

/// Lowers the logits of tokens by the options against repetition, in the order of `transformers`. `text` is the text so far,
/// prompt and answer; `answer` is the answer alone.
pub(crate) fn discourage(logits: &mut [f32], text: &[u32], answer: &[u32], options: &Sampling) {
    if options.repetition_penalty != 1.0 {
        penalize(logits, text, options.repetition_penalty);
    }
    if options.no_repeat_ngram_size > 0 {
        forbid_ngrams(logits, text, options.no_repeat_ngram_size);
    }
    if options.frequency_penalty != 0.0 || options.presence_penalty != 0.0 {
        subtract(logits, answer, options);
    }
}

/// Subtracts the frequency penalty for each occurrence of a token, and the presence penalty once, as in OpenAI's protocol.
fn subtract(logits: &mut [f32], answer: &[u32], options: &Sampling) {
    let mut seen = vec![false; logits.len()];
    for token in answer {
        let token = *token as usize;
        if let (Some(logit), Some(seen)) = (logits.get_mut(token), seen.get_mut(token)) {
            let presence = if std::mem::replace(seen, true) { 0.0 } else { options.presence_penalty };
            *logit -= options.frequency_penalty + presence;
        }
    }
}

/// Divides positive logits by the penalty and multiplies negative logits, once for each token (Keskar et al. 2019).
fn penalize(logits: &mut [f32], text: &[u32], penalty: f32) {
    let mut seen = vec![false; logits.len()];
    for token in text {
        let token = *token as usize;
        if let (Some(logit), Some(seen @ false)) = (logits.get_mut(token), seen.get_mut(token)) {
            *seen = true;
            *logit = if *logit < 0.0 { *logit * penalty } else { *logit / penalty };
        }
    }
}

/// Forbids each token that would repeat a sequence of `size` tokens of the text.
fn forbid_ngrams(logits: &mut [f32], text: &[u32], size: usize) {
    let end = (text.len() + 1).checked_sub(size).and_then(|start| text.get(start..));
    for ngram in text.windows(size) {
        if let Some((last, start)) = ngram.split_last()
            && Some(start) == end
            && let Some(logit) = logits.get_mut(*last as usize)
        {
            *logit = f32::NEG_INFINITY;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn discouraged(text: &[u32], options: Sampling) -> [f32; 4] {
        let mut logits = [2.0, -2.0, 1.0, 0.0];
        discourage(&mut logits, text, text, &options);
        logits
    }

    #[test]
    fn tokens_of_the_text_are_penalized_once() {
        let options = Sampling { repetition_penalty: 4.0, ..Sampling::default() };
        assert_eq!(discouraged(&[0, 1, 0, 9], options), [0.5, -8.0, 1.0, 0.0]);
        assert_eq!(discouraged(&[0, 1], Sampling::default()), [2.0, -2.0, 1.0, 0.0]);
    }

    #[test]
    fn each_occurrence_counts_for_the_frequency_and_the_first_for_the_presence() {
        let options = Sampling { frequency_penalty: 0.5, presence_penalty: 1.0, ..Sampling::default() };
        assert_eq!(discouraged(&[0, 1, 0, 9], options), [0.0, -3.5, 1.0, 0.0]);
    }

    #[test]
    fn a_sequence_of_tokens_never_comes_twice() {
        let size = |no_repeat_ngram_size| Sampling { no_repeat_ngram_size, ..Sampling::default() };
        let forbidden = |text: &[u32], most| discouraged(text, size(most)).map(|logit| logit == f32::NEG_INFINITY);
        assert_eq!(forbidden(&[1, 0, 2, 1], 2), [true, false, false, false]);
        assert_eq!(forbidden(&[1, 0, 2, 1, 0], 3), [false, false, true, false]);
        assert_eq!(forbidden(&[3, 1], 1), [false, true, false, true]);
        assert_eq!(forbidden(&[3, 3], 4), [false; 4]);
    }
}
