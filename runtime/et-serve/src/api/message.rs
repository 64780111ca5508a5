//! The messages of a conversation.

use std::sync::Arc;

use et_llm::{Message, Part, Viewer};
use et_module::preprocess::Media;
use serde_json::{Map, Value, json};

use crate::error::ApiError;
use et_module::base64::decode;

/// A message of a request, whose pictures are files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenMessage {
    role: &'static str,
    parts: Vec<Given>,
    /// Further keys for the chat template.
    more: Option<String>,
    /// The place in the request.
    place: String,
}

/// A part of a message of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Given {
    /// A text.
    Text(String),
    /// The file of a picture.
    Picture(Vec<u8>),
    /// A sound.
    Sound(Vec<u8>),
}

impl GivenMessage {
    /// The message for the chat template. A model that reads no pictures gets one text.
    ///
    /// # Errors
    /// A picture that cannot be read, or for a model that reads no pictures.
    pub fn message(self, viewer: Option<&dyn Viewer>) -> Result<Message, ApiError> {
        let Self { role, parts, more, place } = self;
        let refused = |problem: String| ApiError::parameter(&place, format!("`{place}`: {problem}"));
        let part = |part: Given| match (part, viewer) {
            (Given::Text(text), _) => Ok(Part::Text(text)),
            (Given::Picture(_), Some(viewer)) if viewer.hears() => {
                Err(refused("the model reads no pictures".to_owned()))
            }
            (Given::Sound(_), Some(viewer)) if !viewer.hears() => Err(refused("the model does not hear".to_owned())),
            (Given::Sound(_), None) => Err(refused("the model does not hear".to_owned())),
            (Given::Picture(file) | Given::Sound(file), Some(viewer)) => {
                let picture = viewer.picture(Media::File(&file)).map_err(|error| refused(error.to_string()))?;
                Ok(Part::Picture(Arc::new(picture)))
            }
            (Given::Picture(_), None) => Err(refused("the model reads no pictures".to_owned())),
        };
        let parts = parts.into_iter().map(part).collect::<Result<Vec<Part>, ApiError>>()?;
        let text = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Picture(_) => String::new(),
        };
        let message = match viewer {
            Some(_) => Message::of_parts(role, parts),
            None => Message::new(role, parts.iter().map(text).collect::<String>()),
        };
        Ok(Message { more, ..message })
    }
}

/// Reads the messages of a conversation.
///
/// # Errors
/// A malformed message, with its place.
pub fn messages(given: Option<Vec<Value>>) -> Result<Vec<GivenMessage>, ApiError> {
    let given = given.unwrap_or_default();
    if given.is_empty() {
        return Err(ApiError::parameter("messages", "`messages` is missing or empty"));
    }
    let all = given.iter().enumerate().map(|(index, value)| {
        let place = format!("messages[{index}]");
        let read = message(value).map_err(|problem| ApiError::parameter(&place, format!("`{place}`: {problem}")));
        read.map(|message| GivenMessage { place, ..message })
    });
    all.collect()
}

fn message(value: &Value) -> Result<GivenMessage, String> {
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
    let parts = match value.get("content") {
        None | Some(Value::Null) if has_calls => {
            more.insert("content".to_owned(), Value::Null);
            Vec::new()
        }
        content => parts(content)?,
    };
    let more = (!more.is_empty()).then(|| Value::Object(more).to_string());
    Ok(GivenMessage { role, parts, more, place: String::new() })
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

/// The parts of a message: a text, or a list of texts and pictures.
fn parts(value: Option<&Value>) -> Result<Vec<Given>, String> {
    match value {
        Some(Value::String(text)) => Ok(vec![Given::Text(text.clone())]),
        Some(Value::Array(parts)) => parts.iter().map(part).collect(),
        _ => Err("`content` is neither a text nor a list of parts".to_owned()),
    }
}

fn part(value: &Value) -> Result<Given, String> {
    match (value.get("type").and_then(Value::as_str), value.get("text").and_then(Value::as_str)) {
        (Some("text"), Some(text)) => Ok(Given::Text(text.to_owned())),
        (Some("text"), None) => Err("a part has no `text`".to_owned()),
        (Some("image_url"), _) => picture(value.get("image_url")).map(Given::Picture),
        (Some("input_audio"), _) => sound(value.get("input_audio")).map(Given::Sound),
        (Some(kind), _) => Err(format!("this server has no parts of type `{kind}`")),
        (None, _) => Err("a part has no `type`".to_owned()),
    }
}

/// The WAV file in a part with sound.
fn sound(value: Option<&Value>) -> Result<Vec<u8>, String> {
    let text = |key: &str| value.and_then(|value| value.get(key)).and_then(Value::as_str);
    let data = text("data").ok_or("a part has no `input_audio.data`")?;
    match text("format") {
        None | Some("wav") => decode(data).ok_or_else(|| "`input_audio.data` is not base64".to_owned()),
        Some(format) => Err(format!("this server reads no {format}: send wav")),
    }
}

/// The file in a `data:` URL.
fn picture(value: Option<&Value>) -> Result<Vec<u8>, String> {
    let url =
        value.and_then(|value| value.get("url")).and_then(Value::as_str).ok_or("a part has no `image_url.url`")?;
    let data = url.strip_prefix("data:").ok_or("a picture is a `data:` URL: this server loads no other URLs")?;
    let (kind, text) = data.split_once(',').ok_or("the `data:` URL has no data")?;
    let bytes = kind.ends_with(";base64").then(|| decode(text)).flatten();
    bytes.ok_or_else(|| "the data of the `data:` URL are not base64".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The messages for a model that reads no pictures.
    fn read(given: Vec<Value>) -> Vec<Message> {
        messages(Some(given)).unwrap().into_iter().map(|message| message.message(None).unwrap()).collect()
    }

    #[test]
    fn a_picture_is_a_data_url() {
        let message = |url: &str| {
            let part = json!({ "type": "image_url", "image_url": { "url": url, "detail": "low" } });
            messages(Some(vec![json!({ "role": "user", "content": [{ "type": "text", "text": "a" }, part] })]))
        };
        let read = message("data:image/png;base64,Zm9v").unwrap();
        assert_eq!(read[0].parts, [Given::Text("a".to_owned()), Given::Picture(b"foo".to_vec())]);
        let refused = read[0].clone().message(None).unwrap_err().json();
        assert!(refused["error"]["message"].as_str().unwrap().contains("reads no pictures"), "{refused}");
        for (url, word) in [
            ("https://example.com/cat.png", "loads no other URLs"),
            ("data:image/png;base64", "no data"),
            ("data:image/png,foo", "not base64"),
            ("data:image/png;base64,!", "not base64"),
        ] {
            let error = message(url).unwrap_err().json();
            assert!(error["error"]["message"].as_str().unwrap().contains(word), "{error}");
            assert_eq!(error["error"]["param"], "messages[0]");
        }
    }

    #[test]
    fn messages_are_texts_or_parts_that_are_texts() {
        let parts = json!([{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }]);
        let given = vec![
            json!({ "role": "developer", "content": "be brief" }),
            json!({ "role": "user", "content": parts }),
            json!({ "role": "assistant", "content": "c", "tool_calls": null }),
        ];
        let wanted = [Message::new("system", "be brief"), Message::new("user", "ab"), Message::new("assistant", "c")];
        assert_eq!(read(given), wanted);
    }

    #[test]
    fn calls_and_their_results_are_messages() {
        let function = json!({ "name": "f", "arguments": "{\"b\": 1, \"a\": 2}" });
        let given = vec![
            json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "1", "type": "function", "function": function }] }),
            json!({ "role": "tool", "tool_call_id": "1", "content": "7" }),
        ];
        let read = read(given);
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
