//! The messages of a conversation.

use et_llm::Message;
use serde_json::{Map, Value, json};

use crate::error::ApiError;

/// Reads the messages of a conversation.
///
/// # Errors
/// A malformed message, with its place.
pub fn messages(given: Option<Vec<Value>>) -> Result<Vec<Message>, ApiError> {
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
        Some("tool") => "tool",
        Some(other) => return Err(format!("this server has no role `{other}`")),
        None => return Err("`role` is missing".to_owned()),
    };
    let mut more = Map::new();
    let calls = value.get("tool_calls").filter(|calls| !calls.is_null() && **calls != json!([]));
    if let Some(calls) = calls.filter(|_| role == "assistant") {
        let calls = calls.as_array().ok_or("`tool_calls` is no list")?;
        more.insert("tool_calls".to_owned(), calls.iter().map(call).collect::<Result<_, _>>()?);
    }
    for name in FURTHER {
        let text = value.get(*name).filter(|value| value.is_string());
        more.extend(text.map(|text| ((*name).to_owned(), text.clone())));
    }
    let has_calls = more.contains_key("tool_calls");
    let content = match value.get("content") {
        None | Some(Value::Null) if has_calls => {
            more.insert("content".to_owned(), Value::Null);
            String::new()
        }
        content => content_text(content)?,
    };
    let more = (!more.is_empty()).then(|| Value::Object(more).to_string());
    Ok(Message { more, ..Message::new(role, content) })
}

/// The further texts of a message that chat templates read.
const FURTHER: &[&str] = &["name", "reasoning_content", "tool_call_id"];

/// A call as chat templates read calls: the arguments are an object, and not its text.
fn call(value: &Value) -> Result<Value, String> {
    let function = value.get("function").ok_or("a tool call has no `function`")?;
    let name = function.get("name").and_then(Value::as_str).ok_or("a tool call has no `function.name`")?;
    let arguments = match function.get("arguments") {
        Some(Value::String(text)) if text.trim().is_empty() => json!({}),
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        Some(arguments @ Value::Object(_)) => arguments.clone(),
        _ => return Err("a tool call has no `function.arguments`".to_owned()),
    };
    let mut call = json!({ "type": "function", "function": { "name": name, "arguments": arguments } });
    if let (Some(id), Some(fields)) = (value.get("id"), call.as_object_mut()) {
        fields.insert("id".to_owned(), id.clone());
    }
    Ok(call)
}

/// The text of a message: a text, or a list of parts that are texts.
fn content_text(value: Option<&Value>) -> Result<String, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_texts_or_parts_that_are_texts() {
        let parts = json!([{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }]);
        let given = vec![
            json!({ "role": "developer", "content": "be brief" }),
            json!({ "role": "user", "content": parts }),
            json!({ "role": "assistant", "content": "c", "tool_calls": null }),
        ];
        let wanted = [Message::new("system", "be brief"), Message::new("user", "ab"), Message::new("assistant", "c")];
        assert_eq!(messages(Some(given)).unwrap(), wanted);
    }

    #[test]
    fn calls_and_their_results_are_messages() {
        let function = json!({ "name": "f", "arguments": "{\"b\": 1, \"a\": 2}" });
        let given = vec![
            json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "1", "type": "function", "function": function }] }),
            json!({ "role": "tool", "tool_call_id": "1", "content": "7" }),
        ];
        let read = messages(Some(given)).unwrap();
        let more = r#"{"tool_calls":[{"type":"function","function":{"name":"f","arguments":{"b":1,"a":2}},"id":"1"}],"content":null}"#;
        assert_eq!(read[0].more.as_deref(), Some(more));
        assert_eq!((read[1].role, read[1].content.as_str()), ("tool", "7"));
        assert_eq!(read[1].more.as_deref(), Some(r#"{"tool_call_id":"1"}"#));
    }

    #[test]
    fn other_messages_are_refused_with_their_place() {
        for (value, word) in [
            (json!({ "content": "a" }), "role"),
            (json!({ "role": "tool" }), "content"),
            (json!({ "role": "judge", "content": "a" }), "judge"),
            (json!({ "role": "user" }), "content"),
            (json!({ "role": "user", "content": [{ "type": "image_url" }] }), "image_url"),
            (json!({ "role": "assistant", "content": "a", "tool_calls": [{}] }), "function"),
            (json!({ "role": "assistant", "content": "a", "tool_calls": 7 }), "tool_calls"),
            (json!(7), "role"),
        ] {
            let error = messages(Some(vec![json!({ "role": "user", "content": "a" }), value])).unwrap_err().json();
            assert_eq!(error["error"]["param"], "messages[1]");
            assert!(error["error"]["message"].as_str().unwrap().contains(word), "{error}");
        }
        assert!(messages(None).is_err() && messages(Some(Vec::new())).is_err());
    }
}
