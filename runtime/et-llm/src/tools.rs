//! Tools that a model may call, and the calls of an answer.

use et_module::safetensors::quoted;

use crate::{Message, Random};

/// Which tool the answer has to call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// None, or any.
    #[default]
    Auto,
    /// Any, at least one.
    Required,
    /// The tool with this name.
    Named(String),
}

impl Choice {
    /// The choice with this name: `auto`, which is the usual one, `required`, or a tool.
    pub fn of(name: Option<&str>) -> Self {
        match name {
            None | Some("auto") => Self::Auto,
            Some("required") => Self::Required,
            Some(name) => Self::Named(name.to_owned()),
        }
    }
}

/// The tools of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tools {
    /// A JSON list of functions, as OpenAI's clients send tools: each has a `name`, a `description`, and the JSON schema of its
    /// `parameters`.
    pub json: String,
    /// Which tool the answer has to call.
    pub choice: Choice,
    /// Whether an answer may have several calls.
    pub is_several: bool,
}

impl Tools {
    /// Tools of which the model may call any, none, or several.
    pub const fn new(json: String) -> Self {
        Self { json, choice: Choice::Auto, is_several: true }
    }
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The name of the tool.
    pub name: String,
    /// The arguments, a JSON object.
    pub arguments: String,
}

/// The letters and digits of the id of a call, which templates of Mistral demand.
const ID: usize = 9;

/// The bits of the number of a call that count the calls of an answer.
const CALLS_OF_ANSWER: u32 = 16;

impl Call {
    /// The number of the first call in the answer to a prompt of this many tokens. The number of a later answer of the conversation is
    /// greater.
    pub const fn first(prompt: usize) -> u64 {
        (prompt as u64) << CALLS_OF_ANSWER
    }

    /// The id of a call by a number: nine letters and digits.
    pub fn id(number: u64) -> String {
        let mut bits = Random::new(number).bits();
        let mut digit = || {
            let digit = (bits % 36) as u32;
            bits /= 36;
            char::from_digit(digit, 36).unwrap_or('0')
        };
        (0..ID).map(|_| digit()).collect()
    }
}

/// A call with the id by which a later message names the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedCall<'c> {
    /// The id.
    pub id: &'c str,
    /// The name of the tool.
    pub name: &'c str,
    /// The arguments, a JSON object.
    pub arguments: &'c str,
}

impl Message {
    /// A message with calls, which a message of the model makes, and of which a message of a tool has the result of one; `None` for other
    /// messages with calls.
    pub fn with_calls(self, calls: &[NamedCall<'_>]) -> Option<Self> {
        match (self.role, calls) {
            (_, []) => Some(self),
            ("assistant", calls) => Some(self.calling(calls)),
            ("tool", [call]) => Some(self.answering(call)),
            _ => None,
        }
    }

    /// A message of the model that makes these calls.
    #[must_use]
    pub fn calling(self, calls: &[NamedCall<'_>]) -> Self {
        if calls.is_empty() {
            return self;
        }
        let call = |call: &NamedCall<'_>| {
            let function = format!(r#"{{"name":{},"arguments":{}}}"#, quoted(call.name), call.arguments);
            format!(r#"{{"type":"function","function":{function},"id":{}}}"#, quoted(call.id))
        };
        let calls: Vec<String> = calls.iter().map(call).collect();
        let content = if self.content.is_empty() && self.parts.is_empty() { r#","content":null"# } else { "" };
        Self { more: Some(format!(r#"{{"tool_calls":[{}]{content}}}"#, calls.join(","))), ..self }
    }

    /// A message of the role `tool` with the result of a call, whose name may be empty.
    #[must_use]
    fn answering(self, call: &NamedCall<'_>) -> Self {
        let name = if call.name.is_empty() { String::new() } else { format!(r#","name":{}"#, quoted(call.name)) };
        let more = format!(r#"{{"tool_call_id":{}{name}}}"#, quoted(call.id));
        Self { more: Some(more), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_calls_are_letters_and_digits_and_differ() {
        let ids: std::collections::BTreeSet<String> = (0..1000).map(Call::id).collect();
        assert_eq!(ids.len(), 1000);
        assert!(ids.iter().all(|id| id.len() == 9 && id.chars().all(|letter| letter.is_ascii_alphanumeric())));
    }

    #[test]
    fn calls_and_results_are_keys_for_the_template() {
        let call = NamedCall { id: "a1", name: "f\"", arguments: r#"{"b": 1}"# };
        let message = Message::new("assistant", "").calling(&[call]);
        let expected = r#"{"tool_calls":[{"type":"function","function":{"name":"f\"","arguments":{"b": 1}},"id":"a1"}],"content":null}"#;
        assert_eq!(message.more.as_deref(), Some(expected));
        let result = Message::new("tool", "7").answering(&call);
        assert_eq!(result.more.as_deref(), Some(r#"{"tool_call_id":"a1","name":"f\""}"#));
        assert_eq!(Message::new("assistant", "a").calling(&[]), Message::new("assistant", "a"));
    }
}
