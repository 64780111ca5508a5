//! The JSON forms of calls.

use et_llm::Call;
use serde_json::{Deserializer, Value};

/// The keys of the name.
const NAMES: [&str; 2] = ["name", "tool_name"];
/// The keys of the arguments.
const ARGUMENTS: [&str; 2] = ["arguments", "parameters"];

/// Reads one or several JSON texts, each a call or a list of calls, with `;` or white space between the texts.
pub fn json_calls(text: &str) -> Option<Vec<Call>> {
    let (mut calls, mut rest) = (Vec::new(), text.trim_start());
    while !rest.is_empty() {
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        match values.next()?.ok()? {
            Value::Array(list) => calls.extend(list.into_iter().map(call).collect::<Option<Vec<_>>>()?),
            value => calls.push(call(value)?),
        }
        rest = rest.get(values.byte_offset()..)?.trim_start_matches([';', ',', ' ', '\n', '\r', '\t']);
    }
    (!calls.is_empty()).then_some(calls)
}

/// A call from an object with a name and arguments.
fn call(value: Value) -> Option<Call> {
    let Value::Object(mut object) = value else { return None };
    let name = NAMES.iter().find_map(|key| object.get(*key))?.as_str()?.to_owned();
    let arguments = ARGUMENTS.iter().find_map(|key| object.remove(*key))?;
    arguments.is_object().then(|| Call { name, arguments: arguments.to_string() })
}

/// Reads calls of the form `NAME[ARGS]{...}`.
pub fn named_calls(text: &str) -> Option<Vec<Call>> {
    const ARGS: &str = "[ARGS]";
    let (mut calls, mut rest) = (Vec::new(), text.trim());
    while !rest.is_empty() {
        let (name, behind) = rest.split_once(ARGS).or_else(|| Some(rest.split_at(rest.find('{')?)))?;
        let mut values = Deserializer::from_str(behind).into_iter::<Value>();
        let arguments = values.next()?.ok().filter(Value::is_object)?;
        calls.push(Call { name: name.trim().to_owned(), arguments: arguments.to_string() });
        rest = behind.get(values.byte_offset()..)?.trim_start();
        rest = rest.strip_prefix("[TOOL_CALLS]").unwrap_or(rest);
    }
    (!calls.is_empty()).then_some(calls)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(name: &str, arguments: Value) -> Call {
        Call { name: name.to_owned(), arguments: arguments.to_string() }
    }

    #[test]
    fn calls_are_objects_or_lists() {
        let (f, g) = (call("f", json!({ "b": 1, "a": "x" })), call("g", json!({})));
        for text in [
            r#"{"name": "f", "arguments": {"b": 1, "a": "x"}} {"name": "g", "arguments": {}}"#,
            r#"[{"name": "f", "arguments": {"b": 1, "a": "x"}}, {"name": "g", "parameters": {}}]"#,
            r#"{"name": "f", "parameters": {"b": 1, "a": "x"}}; {"name": "g", "parameters": {}}"#,
            r#"[{"tool_call_id": "0", "tool_name": "f", "parameters": {"b": 1, "a": "x"}}, {"tool_name": "g", "parameters": {}}]"#,
        ] {
            assert_eq!(json_calls(text), Some(vec![f.clone(), g.clone()]), "{text}");
        }
        for text in [
            "",
            "{}",
            r#"{"name": "f"}"#,
            r#"{"name": "f", "arguments": []}"#,
            r#"{"name": "f", "arguments": {"#,
            "f()",
        ] {
            assert_eq!(json_calls(text), None, "{text}");
        }
    }

    #[test]
    fn names_come_ahead_of_arguments() {
        let calls = Some(vec![call("f", json!({ "a": 1 })), call("g", json!({}))]);
        assert_eq!(named_calls(r#"f[ARGS]{"a": 1}[TOOL_CALLS]g[ARGS]{}"#), calls);
        assert_eq!(named_calls(r#"f{"a": 1}[TOOL_CALLS]g{}"#), calls);
        assert_eq!(named_calls("f"), None);
        assert_eq!(named_calls("f[ARGS]{"), None);
    }
}
