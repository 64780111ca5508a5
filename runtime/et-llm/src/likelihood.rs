//! Logarithms of probabilities.

use et_module::safetensors::quoted;

use crate::{Error, Text};

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
    /// The token.
    pub token: u32,
    /// The text of the token alone; empty where tokens are wanted.
    pub text: String,
    /// The natural logarithm of the probability at temperature 1.
    pub logarithm: f32,
}

impl Likelihood {
    /// The likelihood of a token and of the `count` most probable tokens, by the logits of the pick; `text` decodes tokens, if text is wanted.
    ///
    /// # Errors
    /// Errors of the tokenizer.
    pub fn of(token: u32, count: usize, logits: &[f32], text: Option<&dyn Text>) -> Result<Self, Error> {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = logits.iter().map(|logit| f64::from(logit - largest).exp()).sum();
        let alternative = |token: u32| {
            let logit = logits.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY);
            let logarithm = (f64::from(logit - largest) - sum.ln()) as f32;
            // JSON has no infinity.
            let text = text.map_or_else(|| Ok(String::new()), |text| text.decode(&[token]))?;
            Ok(Alternative { token, text, logarithm: logarithm.max(LEAST) })
        };
        let best = best(logits, count);
        let alternatives = best.into_iter().map(alternative).collect::<Result<_, Error>>()?;
        Ok(Self { picked: alternative(token)?, alternatives })
    }

    /// A JSON object: that of the picked token, with those of the alternatives in the list `top`.
    pub fn json(&self) -> String {
        let top: Vec<String> = self.alternatives.iter().map(|other| format!("{{{}}}", other.fields())).collect();
        format!("{{{},\"top\":[{}]}}", self.picked.fields(), top.join(","))
    }

    /// The mean logarithm of the probabilities of the picked tokens; 0 without tokens.
    pub fn mean(all: &[Self]) -> f32 {
        let sum: f32 = all.iter().map(|likelihood| likelihood.picked.logarithm).sum();
        sum / all.len().max(1) as f32
    }
}

impl Alternative {
    /// The fields of a JSON object.
    fn fields(&self) -> String {
        format!("\"token\":{},\"text\":{},\"logprob\":{}", self.token, quoted(&self.text), self.logarithm)
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

        fn render(&self, _conversation: &crate::Conversation<'_>) -> Result<String, Error> {
            Err(Error::NoTemplate)
        }
    }

    #[test]
    fn probabilities_add_up_to_one() {
        let logits = [0.5, 2.0, -1.0, f32::NEG_INFINITY];
        let likelihood = Likelihood::of(2, 4, &logits, Some(&Letters)).unwrap();
        let sum: f32 = likelihood.alternatives.iter().map(|other| other.logarithm.exp()).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
        assert_eq!(likelihood.picked, likelihood.alternatives[2]);
        assert_eq!((likelihood.picked.text.as_str(), likelihood.alternatives[3].logarithm), ("c", LEAST));
        let mean = Likelihood::mean(&[likelihood.clone(), Likelihood::of(1, 0, &logits, None).unwrap()]);
        let half = (likelihood.picked.logarithm + likelihood.alternatives[0].logarithm) / 2.0;
        assert!((mean - half).abs() < 1e-6, "{mean} {half}");
    }

    #[test]
    fn a_likelihood_is_a_json_object() {
        let likelihood = Likelihood::of(0, 1, &[0.0, 0.0], Some(&Letters)).unwrap();
        let half = 0.5_f32.ln();
        let one = format!("\"token\":0,\"text\":\"a\",\"logprob\":{half}");
        assert_eq!(likelihood.json(), format!("{{{one},\"top\":[{{{one}}}]}}"));
    }
}
