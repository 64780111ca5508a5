//! Embeddings: `/v1/embeddings` of OpenAI.

use et_llm::Answer;
use serde_json::{Map, Value, json};

use super::texts::{Texts, check_count, take_cuts, usage};
use crate::encoder::{Answered, Input};
use crate::error::ApiError;
use crate::request::Parameters;
use et_module::base64::encode;

/// Takes the texts of a request for embeddings.
///
/// # Errors
/// A mistake in the parameters.
pub fn take_embeddings(parameters: &mut Parameters) -> Result<Texts, ApiError> {
    let inputs = inputs(parameters.take("input")?.unwrap_or(Value::Null))?;
    check_count("input", inputs.len())?;
    let encode = match parameters.take::<String>("encoding_format")?.as_deref() {
        None | Some("float") => numbers,
        Some("base64") => base64,
        Some(_) => return Err(ApiError::parameter("encoding_format", "`encoding_format` is `float` or `base64`")),
    };
    if parameters.take::<usize>("dimensions")?.is_some() {
        return Err(ApiError::parameter(
            "dimensions",
            "the embeddings of this model have one length: leave `dimensions` out",
        ));
    }
    let cuts = take_cuts(parameters)?;
    Ok(Texts { inputs, cuts, shape: Box::new(move |answers| shape(&answers, encode)) })
}

/// A text, tokens, or a list of either.
fn inputs(value: Value) -> Result<Vec<Input>, ApiError> {
    match value {
        Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_number) => Ok(vec![tokens(&items)?]),
        Value::Array(items) => items.into_iter().map(input).collect(),
        one => Ok(vec![input(one)?]),
    }
}

fn input(value: Value) -> Result<Input, ApiError> {
    match value {
        Value::String(text) => Ok(Input::Text(text)),
        Value::Array(items) => tokens(&items),
        _ => Err(ApiError::parameter("input", "`input` is neither a text nor a list of texts or tokens")),
    }
}

fn tokens(items: &[Value]) -> Result<Input, ApiError> {
    let token = |item: &Value| item.as_u64().and_then(|token| u32::try_from(token).ok());
    let tokens: Option<Vec<u32>> = items.iter().map(token).collect();
    tokens.map(Input::Tokens).ok_or_else(|| ApiError::parameter("input", "`input` has a number that is no token"))
}

type Encode = fn(&[f32]) -> Value;

fn shape(answers: &[Answered], encode: Encode) -> Map<String, Value> {
    let object = |(index, answered): (usize, &Answered)| {
        let vector = match &answered.answer {
            Answer::Embedding(vector) => vector.as_slice(),
            _ => &[],
        };
        json!({ "object": "embedding", "index": index, "embedding": encode(vector) })
    };
    let data: Vec<Value> = answers.iter().enumerate().map(object).collect();
    let fields = [("object", "list".into()), ("data", data.into()), ("usage", usage(answers))];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

fn numbers(vector: &[f32]) -> Value {
    vector.iter().map(|number| Value::from(*number)).collect()
}

/// The bytes of the numbers, little-endian, in base64.
fn base64(vector: &[f32]) -> Value {
    let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
    encode(&bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_a_text_or_tokens_or_a_list() {
        let text = |text: &str| Input::Text(text.to_owned());
        for (value, wanted) in [
            (json!("a"), vec![text("a")]),
            (json!(["a", "b"]), vec![text("a"), text("b")]),
            (json!([1, 2]), vec![Input::Tokens(vec![1, 2])]),
            (json!([[1], "a"]), vec![Input::Tokens(vec![1]), text("a")]),
        ] {
            assert_eq!(inputs(value), Ok(wanted));
        }
        for value in [json!(null), json!({}), json!([-1]), json!([null])] {
            assert!(inputs(value.clone()).is_err(), "{value}");
        }
    }

    #[test]
    fn base64_has_padding() {
        assert_eq!(base64(&[1.0]), "AACAPw==");
        assert_eq!(base64(&[1.0, -2.5]), "AACAPwAAIMA=");
        assert_eq!(base64(&[0.5, 1.0, 2.0]), "AAAAPwAAgD8AAABA");
    }
}
