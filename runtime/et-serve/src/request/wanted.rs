//! How an answer is wanted.

use std::collections::BTreeMap;

use et_llm::Sampling;
use serde_json::{Map, Value};

use super::form::Form;
use super::parameters::Parameters;
use crate::error::ApiError;

/// How an answer is wanted, apart from the prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// How tokens are picked, but for the seed.
    pub sampling: Sampling,
    /// Numbers that are added to the logits of tokens.
    pub bias: Vec<(u32, f32)>,
    /// The form of the answer, if any.
    pub form: Option<Form>,
    /// The number of answers.
    pub answers: usize,
    /// The seed; any for `None`.
    pub seed: Option<u64>,
    /// The limit of new tokens; the rest of the context if `None`.
    pub most: Option<usize>,
    /// The texts that end the answer.
    pub stops: Vec<String>,
    /// The number of alternatives with probabilities; no probabilities if `None`.
    pub alternatives: Option<usize>,
}

/// How an answer is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sending {
    /// Whether the answer comes in pieces.
    pub is_stream: bool,
    /// Whether a stream ends with the numbers of tokens.
    pub has_usage: bool,
}

/// The most answers to a request, as in OpenAI's protocol.
const MOST_ANSWERS: usize = 128;

/// The most stop texts, as in OpenAI's protocol.
const MOST_STOPS: usize = 4;

/// The most bytes of a stop text.
const LONGEST_STOP: usize = 1024;

impl Wanted {
    /// Takes the parameters that both kinds of answers have.
    ///
    /// # Errors
    /// A value of another type, or out of range.
    pub fn take(parameters: &mut Parameters, usual: Sampling) -> Result<Self, ApiError> {
        let sampling = Sampling {
            temperature: parameters.take("temperature")?.unwrap_or(usual.temperature),
            top_k: parameters.take("top_k")?.unwrap_or(usual.top_k),
            top_p: parameters.take("top_p")?.unwrap_or(usual.top_p),
            min_p: parameters.take("min_p")?.unwrap_or(usual.min_p),
            typical_p: parameters.take("typical_p")?.unwrap_or(usual.typical_p),
            repetition_penalty: parameters.take("repetition_penalty")?.unwrap_or(usual.repetition_penalty),
            frequency_penalty: parameters.take("frequency_penalty")?.unwrap_or(usual.frequency_penalty),
            presence_penalty: parameters.take("presence_penalty")?.unwrap_or(usual.presence_penalty),
            no_repeat_ngram_size: parameters.take("no_repeat_ngram_size")?.unwrap_or(usual.no_repeat_ngram_size),
            seed: 0,
        };
        let seed = parameters.take::<i64>("seed")?.map(i64::cast_unsigned);
        let most = parameters.take_count("max_tokens")?;
        let (bias, form) = (bias(parameters)?, Form::take(parameters)?);
        let (sampling, stops) = (sampling.checked()?, stops(parameters)?);
        let answers = parameters.take_count("n")?.unwrap_or(1);
        if answers > MOST_ANSWERS {
            return Err(ApiError::parameter("n", format!("`n` is {answers}, but may be {MOST_ANSWERS}")));
        }
        Ok(Self { sampling, bias, form, answers, seed, most, stops, alternatives: None })
    }
}

impl Sending {
    /// Takes the parameters about sending.
    ///
    /// # Errors
    /// A value of another type.
    pub fn take(parameters: &mut Parameters) -> Result<Self, ApiError> {
        let is_stream = parameters.take("stream")?.unwrap_or(false);
        let options: Option<Map<String, Value>> = parameters.take("stream_options")?;
        let mut options = Parameters::new(options.unwrap_or_default());
        let has_usage = options.take("include_usage")?.unwrap_or(false);
        // Padding of events against listeners on the network.
        let _ignored: Option<bool> = options.take("include_obfuscation")?;
        options.finish()?;
        Ok(Self { is_stream, has_usage })
    }
}

/// The most tokens of `logit_bias`.
const MOST_BIASES: usize = 1024;

/// Reads `logit_bias`: numbers from -100 to 100 by token.
fn bias(parameters: &mut Parameters) -> Result<Vec<(u32, f32)>, ApiError> {
    const NAME: &str = "logit_bias";
    let given: Map<String, Value> = parameters.take(NAME)?.unwrap_or_default();
    if given.len() > MOST_BIASES {
        let message = format!("`{NAME}` has {} tokens, but may have {MOST_BIASES}", given.len());
        return Err(ApiError::parameter(NAME, message));
    }
    let pair = |(token, bias): (&String, &Value)| {
        let bias = bias.as_f64().filter(|bias| (-100.0..=100.0).contains(bias));
        let pair = bias.and_then(|bias| Some((token.parse().ok()?, bias as f32)));
        let wrong =
            || ApiError::parameter(NAME, format!("`{NAME}` needs numbers from -100 to 100 by token, not `{token}`"));
        pair.ok_or_else(wrong)
    };
    let pairs: BTreeMap<u32, f32> = given.iter().map(pair).collect::<Result<_, _>>()?;
    Ok(pairs.into_iter().collect())
}

fn stops(parameters: &mut Parameters) -> Result<Vec<String>, ApiError> {
    const NAME: &str = "stop";
    let refused = |message: String| Err(ApiError::parameter(NAME, message));
    let stops = match parameters.take(NAME)? {
        None => Vec::new(),
        Some(Value::String(stop)) => vec![stop],
        Some(other) => match serde_json::from_value::<Vec<String>>(other) {
            Ok(stops) => stops,
            Err(_) => return refused("`stop` is neither a text nor a list of texts".to_owned()),
        },
    };
    if stops.len() > MOST_STOPS {
        return refused(format!("`stop` has {} texts, but may have {MOST_STOPS}", stops.len()));
    }
    if stops.iter().any(|stop| stop.is_empty() || stop.len() > LONGEST_STOP) {
        return refused(format!("a text of `stop` must have 1 to {LONGEST_STOP} bytes"));
    }
    Ok(stops)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn taken(value: Value) -> Result<Wanted, ApiError> {
        Wanted::take(&mut Parameters::new(value.as_object().unwrap().clone()), Sampling::default())
    }

    #[test]
    fn the_models_defaults_hold_for_what_is_missing() {
        let usual = Sampling { temperature: 0.7, top_k: 5, ..Sampling::default() };
        let mut parameters = Parameters::new(json!({ "top_k": 2, "seed": -1 }).as_object().unwrap().clone());
        let wanted = Wanted::take(&mut parameters, usual).unwrap();
        assert_eq!((wanted.sampling.temperature, wanted.sampling.top_k, wanted.seed), (0.7, 2, Some(u64::MAX)));
    }

    #[test]
    fn stop_texts_are_bounded() {
        assert_eq!(taken(json!({ "stop": "a" })).unwrap().stops, ["a"]);
        assert_eq!(taken(json!({ "stop": ["a", "b"] })).unwrap().stops, ["a", "b"]);
        for stop in [json!(""), json!([1]), json!(["a", "b", "c", "d", "e"]), json!("a".repeat(1025)), json!({})] {
            assert!(taken(json!({ "stop": stop })).is_err(), "{stop}");
        }
    }

    #[test]
    fn options_out_of_range_are_refused() {
        for value in [
            json!({ "temperature": -1 }),
            json!({ "top_p": 1.5 }),
            json!({ "min_p": 2 }),
            json!({ "presence_penalty": 3 }),
            json!({ "n": 0 }),
            json!({ "n": 129 }),
            json!({ "logit_bias": { "7": 101 } }),
            json!({ "logit_bias": { "fox": 1 } }),
        ] {
            let error = taken(value.clone()).unwrap_err().json();
            assert_eq!(error["error"]["param"], value.as_object().unwrap().keys().next().unwrap().as_str());
        }
    }
}
