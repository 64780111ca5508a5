//! Plain texts: `/v1/completions`.

use et_llm::{Alternative, AnswerReader, Error, Likelihood, Piece, Text};
use serde_json::{Map, Value, json};

use super::shape::{Asked, Place, Prompt, Shape};
use crate::error::ApiError;
use crate::request::{Parameters, Wanted};

/// The shape of plain texts.
pub static COMPLETION: Completion = Completion;

/// The shape of plain texts.
pub struct Completion;

/// The most new tokens where the request names no number, and the most alternatives of a token, as in OpenAI's protocol.
const TOKENS: usize = 16;
const MOST_ALTERNATIVES: usize = 5;

impl Shape for Completion {
    fn prefix(&self) -> &'static str {
        "cmpl-"
    }

    fn object(&self, _is_piece: bool) -> &'static str {
        "text_completion"
    }

    fn take(&self, parameters: &mut Parameters, wanted: &mut Wanted) -> Result<Vec<Prompt>, ApiError> {
        wanted.most.get_or_insert(TOKENS);
        wanted.alternatives = parameters.take("logprobs")?;
        if let Some(count) = wanted.alternatives.filter(|count| *count > MOST_ALTERNATIVES) {
            let message = format!("`logprobs` is {count}, but may be {MOST_ALTERNATIVES}");
            return Err(ApiError::parameter("logprobs", message));
        }
        let echoes = parameters.take("echo")?.unwrap_or(false);
        if echoes && wanted.alternatives.is_some() {
            return Err(ApiError::parameter("echo", "`echo` does not go with `logprobs`"));
        }
        let all = prompts(parameters.take("prompt")?.unwrap_or(Value::Null))?;
        let asked = |tokens: Tokens| -> Prompt {
            Box::new(move |text, _| {
                let mut asked = Asked::plain(tokens(text)?);
                if echoes {
                    let echo = Some(text.decode(&asked.prompt.tokens)?);
                    asked.answer.reader = Box::new(Echo { text: echo, reader: asked.answer.reader });
                }
                Ok(asked)
            })
        };
        Ok(all.into_iter().map(asked).collect())
    }

    fn whole(&self, pieces: &[Piece], likelihoods: Option<&[Likelihood]>, _place: Place<'_>) -> Value {
        let text: String = pieces.iter().map(text_of).collect();
        json!({ "text": text, "logprobs": likelihoods.map(|likelihoods| logprobs(likelihoods, 0)) })
    }

    fn piece(&self, piece: &Piece, likelihoods: Option<&[Likelihood]>, place: Place<'_>) -> Value {
        json!({ "text": text_of(piece), "logprobs": likelihoods.map(|likelihoods| logprobs(likelihoods, place.start)) })
    }

    fn first(&self) -> Option<Value> {
        None
    }

    fn last(&self) -> Value {
        json!({ "text": "" })
    }
}

/// The text of a piece: plain texts have no others.
const fn text_of(piece: &Piece) -> &str {
    match piece {
        Piece::Text(text) => text.as_str(),
        Piece::Thoughts(_) | Piece::Call(_) => "",
    }
}

/// Reads an answer behind the text of its prompt.
struct Echo {
    /// The text, until it was read.
    text: Option<String>,
    reader: Box<dyn AnswerReader>,
}

impl Echo {
    /// Pieces of the answer, the first of them behind the text.
    fn behind(&mut self, pieces: Vec<Piece>) -> Vec<Piece> {
        self.text.take().map(Piece::Text).into_iter().chain(pieces).collect()
    }
}

impl AnswerReader for Echo {
    fn push(&mut self, text: &str) -> Vec<Piece> {
        let pieces = self.reader.push(text);
        self.behind(pieces)
    }

    fn finish(&mut self) -> Vec<Piece> {
        let pieces = self.reader.finish();
        self.behind(pieces)
    }

    fn again(&self) -> Box<dyn AnswerReader> {
        Box::new(Self { text: self.text.clone(), reader: self.reader.again() })
    }
}

/// Makes tokens of a prompt.
type Tokens = Box<dyn FnOnce(&dyn Text) -> Result<Vec<u32>, Error> + Send>;

/// The prompts: a text or tokens, or a list of these.
fn prompts(value: Value) -> Result<Vec<Tokens>, ApiError> {
    match value {
        Value::Array(items) if !items.is_empty() && !items.iter().all(Value::is_number) => {
            items.into_iter().map(prompt).collect()
        }
        one => Ok(vec![prompt(one)?]),
    }
}

/// A prompt: a text or tokens.
fn prompt(value: Value) -> Result<Tokens, ApiError> {
    match value {
        Value::String(prompt) => Ok(Box::new(move |text| text.encode(&prompt, true))),
        Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_number) => {
            let token = |item: &Value| item.as_u64().and_then(|token| u32::try_from(token).ok());
            let tokens: Option<Vec<u32>> = items.iter().map(token).collect();
            let tokens =
                tokens.ok_or_else(|| ApiError::parameter("prompt", "`prompt` has a number that is no token"))?;
            Ok(Box::new(move |_| Ok(tokens)))
        }
        _ => Err(ApiError::parameter("prompt", "`prompt` is neither a text nor tokens, nor a list of these")),
    }
}

/// The probabilities of tokens, whose first begins `start` characters behind the beginning of the text.
fn logprobs(likelihoods: &[Likelihood], start: usize) -> Value {
    let tokens: Vec<&str> = likelihoods.iter().map(|likelihood| likelihood.picked.text.as_str()).collect();
    let offset = |(at, token): (&mut usize, &str)| std::mem::replace(at, *at + token.chars().count());
    let mut at = start;
    let offsets: Vec<usize> = tokens.iter().map(|token| offset((&mut at, token))).collect();
    let alternatives = |likelihood: &Likelihood| {
        let pair = |other: &Alternative| (other.text.clone(), json!(other.logarithm));
        likelihood.alternatives.iter().map(pair).collect::<Map<_, _>>()
    };
    json!({
        "tokens": tokens,
        "token_logprobs": likelihoods.iter().map(|likelihood| likelihood.picked.logarithm).collect::<Vec<_>>(),
        "top_logprobs": likelihoods.iter().map(alternatives).collect::<Vec<_>>(),
        "text_offset": offsets,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_texts_or_tokens() {
        let one = [json!("a"), json!(["a"]), json!([1, 2]), json!([[1, 2]]), json!([7])].map(|value| (value, 1));
        let several = [json!(["a", "b"]), json!([[1], [2, 3]]), json!(["a", [1]])].map(|value| (value, 2));
        for (value, count) in one.into_iter().chain(several) {
            assert_eq!(prompts(value.clone()).map(|prompts| prompts.len()).ok(), Some(count), "{value}");
        }
        let wrong = [json!(null), json!([]), json!([[]]), json!([-1]), json!([0.5]), json!({}), json!(["a", 1])];
        for value in wrong.into_iter().chain([json!(["a", null]), json!([["a"]])]) {
            assert!(prompts(value.clone()).is_err(), "{value}");
        }
    }
}
