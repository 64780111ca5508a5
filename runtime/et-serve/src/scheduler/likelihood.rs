//! Logarithms of probabilities.

use et_llm::{Error, Text};

/// The probability of a token, and of its alternatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Likelihood {
    /// The token that was picked.
    pub picked: Alternative,
    /// The most probable tokens, the most probable first.
    pub alternatives: Vec<Alternative>,
}

/// A token with the logarithm of its probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The text of the token alone.
    pub text: String,
    /// The natural logarithm of the probability at temperature 1.
    pub logarithm: f32,
}

impl Likelihood {
    /// The likelihood of a token and of the `count` most probable tokens, by the logits of the pick.
    ///
    /// # Errors
    /// Errors of the tokenizer.
    pub fn of(token: u32, count: usize, logits: &[f32], text: &dyn Text) -> Result<Self, Error> {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = logits.iter().map(|logit| f64::from(logit - largest).exp()).sum();
        let alternative = |token: u32| {
            let logit = logits.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY);
            let logarithm = (f64::from(logit - largest) - sum.ln()) as f32;
            // JSON has no infinity.
            Ok(Alternative { text: text.decode(&[token])?, logarithm: logarithm.max(LEAST) })
        };
        let best = best(logits, count);
        let alternatives = best.into_iter().map(alternative).collect::<Result<_, Error>>()?;
        Ok(Self { picked: alternative(token)?, alternatives })
    }
}

/// The logarithm of a probability that is nearly 0, as in OpenAI's protocol.
const LEAST: f32 = -9999.0;

/// The tokens with the largest logits, the largest first.
fn best(logits: &[f32], count: usize) -> Vec<u32> {
    let mut best: Vec<(f32, u32)> = Vec::with_capacity(count + 1);
    for (token, logit) in (0..).zip(logits) {
        if best.len() == count && best.last().is_none_or(|(least, _)| logit <= least) {
            continue;
        }
        let place = best.partition_point(|(other, _)| other >= logit);
        best.insert(place, (*logit, token));
        best.truncate(count);
    }
    best.into_iter().map(|(_, token)| token).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_come_in_order_and_of_equals_the_first() {
        let logits = [1.0, 3.0, 2.0, 3.0, f32::NEG_INFINITY];
        assert_eq!(best(&logits, 3), [1, 3, 2]);
        assert_eq!(best(&logits, 0), [0; 0]);
        assert_eq!(best(&logits, 9), [1, 3, 2, 0, 4]);
    }

    /// A token is a letter.
    struct Letters;

    impl Text for Letters {
        fn encode(&self, _text: &str, _begins: bool) -> Result<Vec<u32>, Error> {
            Ok(Vec::new())
        }

        fn decode(&self, tokens: &[u32]) -> Result<String, Error> {
            Ok(tokens.iter().map(|token| char::from(b'a' + *token as u8)).collect())
        }

        fn render(&self, _conversation: &et_llm::Conversation<'_>) -> Result<String, Error> {
            Err(Error::NoTemplate)
        }
    }

    #[test]
    fn probabilities_add_up_to_one() {
        let logits = [0.5, 2.0, -1.0, f32::NEG_INFINITY];
        let likelihood = Likelihood::of(2, 4, &logits, &Letters).unwrap();
        let sum: f32 = likelihood.alternatives.iter().map(|other| other.logarithm.exp()).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
        assert_eq!(likelihood.picked, likelihood.alternatives[2]);
        assert_eq!((likelihood.picked.text.as_str(), likelihood.alternatives[3].logarithm), ("c", LEAST));
    }
}
