//! An answer of a request, and how an answer is told.

use std::fmt::Write as _;

use et_module::safetensors::quoted;

use super::Request;
use super::channels::Channels;
use crate::{Ended, Error, Likelihood};

/// An answer.
pub struct Said {
    /// The new tokens.
    pub tokens: Vec<u32>,
    /// The new text, without thoughts; empty where tokens are wanted.
    pub text: String,
    /// What the model thought before the text.
    pub thoughts: String,
    /// The probabilities of the new tokens, if wanted.
    pub likelihoods: Vec<Likelihood>,
    /// Why the answer ended.
    pub ended: Ended,
}

impl Said {
    /// Tells what the streamed text does not: the answer as a JSON object, or the probabilities as a JSON object for each token.
    ///
    /// # Errors
    /// A channel that takes no more.
    pub fn tell(&self, request: &Request, channels: &mut Channels<'_>) -> Result<(), Error> {
        if request.json {
            writeln!(channels.out, "{}", self.json(request.logprobs.is_some()))?;
        } else {
            self.likelihoods.iter().try_for_each(|likelihood| writeln!(channels.talk, "{}", likelihood.json()))?;
        }
        Ok(channels.out.flush()?)
    }

    /// The answer as a JSON object, with or without probabilities.
    fn json(&self, has_likelihoods: bool) -> String {
        let tokens: Vec<String> = self.tokens.iter().map(u32::to_string).collect();
        let mut fields = format!("\"text\":{},\"tokens\":[{}]", quoted(&self.text), tokens.join(","));
        if !self.thoughts.is_empty() {
            let _ = write!(fields, ",\"thoughts\":{}", quoted(&self.thoughts));
        }
        let _ = write!(fields, ",\"ended\":\"{}\"", name(self.ended));
        if has_likelihoods {
            let all: Vec<String> = self.likelihoods.iter().map(Likelihood::json).collect();
            let mean = Likelihood::mean(&self.likelihoods);
            let _ = write!(fields, ",\"mean_logprob\":{mean},\"logprobs\":[{}]", all.join(","));
        }
        format!("{{{fields}}}")
    }
}

/// The name of an end, as in the libraries.
const fn name(ended: Ended) -> &'static str {
    match ended {
        Ended::Stopped | Ended::Complete => "stop",
        Ended::Enough => "length",
        Ended::ContextFull => "context",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_json_object() {
        let likelihoods = vec![Likelihood::of(1, 0, &[0.0, 0.0], None).unwrap()];
        let (text, thoughts) = ("a\"b".to_owned(), String::new());
        let mut said = Said { tokens: vec![1, 2], text, thoughts, likelihoods, ended: Ended::Enough };
        let plain = r#"{"text":"a\"b","tokens":[1,2],"ended":"length"}"#;
        assert_eq!(said.json(false), plain);
        assert!(
            said.json(true).contains(r#""mean_logprob":-0.6931472,"logprobs":[{"token":1,"#),
            "{}",
            said.json(true)
        );
        "so".clone_into(&mut said.thoughts);
        assert!(said.json(false).contains(r#","thoughts":"so","ended""#));
    }
}
