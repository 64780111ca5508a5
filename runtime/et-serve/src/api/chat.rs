//! Conversations: `/v1/chat/completions`.

use et_llm::Message;
use serde_json::{Value, json};

use super::parameters::Parameters;
use super::shape::{Prompt, Shape};
use super::wanted::Wanted;
use crate::error::ApiError;
use crate::scheduler::{Alternative, Likelihood};

/// The shape of conversations.
pub static CHAT: Chat = Chat;

/// The shape of conversations.
pub struct Chat;

/// The most alternatives of a token, as in OpenAI's protocol.
const MOST_ALTERNATIVES: usize = 20;

impl Shape for Chat {
    fn prefix(&self) -> &'static str {
        "chatcmpl-"
    }

    fn object(&self, is_piece: bool) -> &'static str {
        if is_piece { "chat.completion.chunk" } else { "chat.completion" }
    }

    fn take(&self, parameters: &mut Parameters, wanted: &mut Wanted) -> Result<Prompt, ApiError> {
        if let Some(most) = parameters.take_count("max_completion_tokens")? {
            wanted.most = Some(most);
        }
        let (is_wanted, count) = (parameters.take("logprobs")?.unwrap_or(false), parameters.take("top_logprobs")?);
        wanted.alternatives = is_wanted.then_some(count.unwrap_or(0));
        match count {
            Some(_) if !is_wanted => {
                return Err(ApiError::parameter("top_logprobs", "`top_logprobs` needs `logprobs`"));
            }
            Some(count) if count > MOST_ALTERNATIVES => {
                let message = format!("`top_logprobs` is {count}, but may be {MOST_ALTERNATIVES}");
                return Err(ApiError::parameter("top_logprobs", message));
            }
            _ => {}
        }
        let messages = messages(parameters.take("messages")?)?;
        // The template adds the tokens that begin every text.
        Ok(Box::new(move |text| text.encode(&text.conversation(&messages)?, false)))
    }

    fn whole(&self, text: &str, likelihoods: Option<&[Likelihood]>) -> Value {
        let message = json!({ "role": "assistant", "content": text, "refusal": null });
        json!({ "message": message, "logprobs": likelihoods.map(logprobs) })
    }

    fn piece(&self, text: &str, likelihoods: Option<&[Likelihood]>, _start: usize) -> Value {
        json!({ "delta": { "content": text }, "logprobs": likelihoods.map(logprobs) })
    }

    fn first(&self) -> Option<Value> {
        Some(json!({ "delta": { "role": "assistant", "content": "" } }))
    }

    fn last(&self) -> Value {
        json!({ "delta": {} })
    }
}

/// The messages of a conversation.
fn messages(given: Option<Vec<Value>>) -> Result<Vec<Message>, ApiError> {
    let given = given.unwrap_or_default();
    if given.is_empty() {
        return Err(ApiError::parameter("messages", "`messages` is missing or empty"));
    }
    let all = given.iter().enumerate().map(|(index, value)| {
        let place = format!("messages[{index}]");
        message(value).map_err(|problem| ApiError::parameter(&place, format!("`{place}`: {problem}")))
    });
    all.collect()
}

fn message(value: &Value) -> Result<Message, String> {
    let role = match value.get("role").and_then(Value::as_str) {
        Some("system" | "developer") => "system",
        Some("user") => "user",
        Some("assistant") => "assistant",
        Some(other) => return Err(format!("this server has no role `{other}`")),
        None => return Err("`role` is missing".to_owned()),
    };
    let has_calls = value.get("tool_calls").is_some_and(|calls| calls.as_array().is_none_or(|calls| !calls.is_empty()));
    if has_calls && value.get("tool_calls") != Some(&Value::Null) {
        return Err("this server has no tool calls".to_owned());
    }
    Ok(Message::new(role, content(value.get("content"))?))
}

/// The text of a message: a text, or a list of parts that are texts.
fn content(value: Option<&Value>) -> Result<String, String> {
    match value {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => parts.iter().map(part).collect(),
        _ => Err("`content` is neither a text nor a list of parts".to_owned()),
    }
}

fn part(value: &Value) -> Result<&str, String> {
    match (value.get("type").and_then(Value::as_str), value.get("text").and_then(Value::as_str)) {
        (Some("text"), Some(text)) => Ok(text),
        (Some("text"), None) => Err("a part has no `text`".to_owned()),
        (Some(kind), _) => Err(format!("this server has no parts of type `{kind}`")),
        (None, _) => Err("a part has no `type`".to_owned()),
    }
}

fn logprobs(likelihoods: &[Likelihood]) -> Value {
    let token = |likelihood: &Likelihood| {
        let mut token = alternative(&likelihood.picked);
        let others: Vec<Value> = likelihood.alternatives.iter().map(alternative).collect();
        if let Some(fields) = token.as_object_mut() {
            fields.insert("top_logprobs".to_owned(), others.into());
        }
        token
    };
    json!({ "content": likelihoods.iter().map(token).collect::<Vec<_>>(), "refusal": null })
}

fn alternative(alternative: &Alternative) -> Value {
    json!({
        "token": alternative.text, "logprob": alternative.logarithm, "bytes": alternative.text.as_bytes(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_texts_or_parts_that_are_texts() {
        let parts = json!([{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }]);
        let given = vec![
            json!({ "role": "developer", "content": "be brief" }),
            json!({ "role": "user", "content": parts, "name": "x" }),
            json!({ "role": "assistant", "content": "c", "tool_calls": null }),
        ];
        let wanted = [Message::new("system", "be brief"), Message::new("user", "ab"), Message::new("assistant", "c")];
        assert_eq!(messages(Some(given)).unwrap(), wanted);
    }

    #[test]
    fn other_messages_are_refused_with_their_place() {
        for (value, word) in [
            (json!({ "content": "a" }), "role"),
            (json!({ "role": "tool", "content": "a" }), "tool"),
            (json!({ "role": "user" }), "content"),
            (json!({ "role": "user", "content": [{ "type": "image_url" }] }), "image_url"),
            (json!({ "role": "assistant", "content": "a", "tool_calls": [{}] }), "tool calls"),
            (json!(7), "role"),
        ] {
            let error = messages(Some(vec![json!({ "role": "user", "content": "a" }), value])).unwrap_err().json();
            assert_eq!(error["error"]["param"], "messages[1]");
            assert!(error["error"]["message"].as_str().unwrap().contains(word), "{error}");
        }
        assert!(messages(None).is_err() && messages(Some(Vec::new())).is_err());
    }
}
