//! Logits of tokens that a text already has.

use crate::Sampling;

/// Lowers the logits of tokens by the options against repetition, in the order of `transformers`. `text` is the text so far,
/// prompt and answer.
pub(crate) fn discourage(logits: &mut [f32], text: &[u32], options: &Sampling) {
    if options.repetition_penalty != 1.0 {
        penalize(logits, text, options.repetition_penalty);
    }
    if options.no_repeat_ngram_size > 0 {
        forbid_ngrams(logits, text, options.no_repeat_ngram_size);
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
        discourage(&mut logits, text, &options);
        logits
    }

    #[test]
    fn tokens_of_the_text_are_penalized_once() {
        let options = Sampling { repetition_penalty: 4.0, ..Sampling::default() };
        assert_eq!(discouraged(&[0, 1, 0, 9], options), [0.5, -8.0, 1.0, 0.0]);
        assert_eq!(discouraged(&[0, 1], Sampling::default()), [2.0, -2.0, 1.0, 0.0]);
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
