//! Calls whose arguments are texts in tags.

use et_llm::Call;
use serde_json::{Map, Value};

use super::tool::Tool;

/// The texts around the parts of a call.
#[derive(Debug)]
pub struct Tags {
    /// Before the name.
    pub name: &'static str,
    /// Behind the name.
    pub named: &'static str,
    /// Before a key.
    pub key: &'static str,
    /// Between a key and its value.
    pub value: &'static str,
    /// Behind a value.
    pub valued: &'static str,
    /// Behind the arguments.
    pub end: &'static str,
}

/// Qwen3-Coder: `<function=f>`, `<parameter=a>`, each on a line.
pub static FUNCTION: Tags = Tags {
    name: "<function=",
    named: ">\n",
    key: "<parameter=",
    value: ">\n",
    valued: "\n</parameter>\n",
    end: "</function>",
};

/// GLM: `f`, `<arg_key>a</arg_key>`, `<arg_value>1</arg_value>`.
pub static KEYS: Tags = Tags {
    name: "",
    named: "\n",
    key: "<arg_key>",
    value: "</arg_key>\n<arg_value>",
    valued: "</arg_value>\n",
    end: "",
};

/// MiniMax: `<invoke name="f">`, `<parameter name="a">1</parameter>`.
pub static INVOKE: Tags = Tags {
    name: "<invoke name=\"",
    named: "\">\n",
    key: "<parameter name=\"",
    value: "\">",
    valued: "</parameter>\n",
    end: "</invoke>",
};

/// Reads one or several calls. White space between tags may be missing.
pub fn tagged_calls(text: &str, tags: &Tags, tools: &[Tool]) -> Option<Vec<Call>> {
    let (mut calls, mut rest) = (Vec::new(), Rest(text.trim()));
    while !rest.0.is_empty() {
        calls.push(call(&mut rest, tags, tools)?);
    }
    (!calls.is_empty()).then_some(calls)
}

fn call(rest: &mut Rest<'_>, tags: &Tags, tools: &[Tool]) -> Option<Call> {
    rest.take(tags.name)?;
    let name = rest.name(tags)?;
    let tool = tools.iter().find(|tool| tool.name == name)?;
    let mut arguments = Map::new();
    while rest.take(tags.key).is_some() {
        let key = rest.until(tags.value)?.trim();
        let value = rest.until(tags.valued)?;
        // Where the tags stand on lines of their own, the value has a line break at each end.
        let value = if tags.value.ends_with('\n') { value.strip_prefix('\n').unwrap_or(value) } else { value };
        let value = if tags.valued.starts_with('\n') { value.strip_suffix('\n').unwrap_or(value) } else { value };
        arguments.insert(key.to_owned(), read_value(value, tool.parameters["properties"].get(key)));
    }
    rest.take(tags.end)?;
    Some(Call { name: name.to_owned(), arguments: Value::Object(arguments).to_string() })
}

/// A value: the text where the schema says so, else JSON, if it is, and of a type that the schema allows beside texts.
fn read_value(text: &str, schema: Option<&Value>) -> Value {
    let types = schema.map(types).unwrap_or_default();
    let read: Option<Value> = serde_json::from_str(text.trim()).ok();
    let is_wanted = |value: &Value| !types.contains(&"string") || types.iter().any(|name| is_of(value, name));
    match read.filter(|value| !is_text(schema) && is_wanted(value)) {
        Some(value) => value,
        None => Value::String(text.to_owned()),
    }
}

/// The types that a schema names, or its alternatives.
fn types(schema: &Value) -> Vec<&str> {
    let own = match schema.get("type") {
        Some(Value::String(name)) => vec![name.as_str()],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let others = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array()).flatten().flat_map(types);
    own.into_iter().chain(others).collect()
}

/// Whether a value has a type of JSON schemas.
fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" | "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

/// Whether the values of a schema are texts.
pub fn is_text(schema: Option<&Value>) -> bool {
    schema.and_then(|schema| schema.get("type")).is_some_and(|kind| kind == "string")
}

/// The text that was not read.
struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    /// Takes a tag and the white space around.
    fn take(&mut self, tag: &str) -> Option<()> {
        self.0 = self.0.trim_start().strip_prefix(tag.trim())?.trim_start();
        Some(())
    }

    /// Takes the name, up to the tag behind the name, or to the first key or the next call where that is white space.
    fn name(&mut self, tags: &Tags) -> Option<&'t str> {
        if !tags.named.trim().is_empty() {
            return self.until(tags.named).map(str::trim);
        }
        let end = self.0.find([tags.named.chars().next()?, '<']).unwrap_or(self.0.len());
        let (name, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(name.trim())
    }

    /// Takes a text and the tag behind; of a tag in parts, the white space between may be missing.
    fn until(&mut self, tag: &str) -> Option<&'t str> {
        let mut parts = tag.split('\n').map(str::trim).filter(|part| !part.is_empty());
        let (text, rest) = self.0.split_once(parts.next()?)?;
        self.0 = rest;
        for part in parts {
            self.0 = self.0.trim_start().strip_prefix(part)?;
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tools() -> Vec<Tool> {
        let properties = json!({ "path": { "type": "string" }, "count": { "type": "integer" }, "any": {} });
        let parameters = json!({ "type": "object", "properties": properties });
        ["f", "g"].map(|name| Tool { name: name.to_owned(), parameters: parameters.clone() }).into()
    }

    fn read(text: &str, tags: &Tags) -> Option<Vec<(String, Value)>> {
        let read = |call: Call| (call.name, serde_json::from_str(&call.arguments).unwrap());
        Some(tagged_calls(text, tags, &tools())?.into_iter().map(read).collect())
    }

    #[test]
    fn arguments_are_texts_or_json_by_their_schema() {
        let wanted =
            Some(vec![("f".to_owned(), json!({ "path": "7\n8", "count": 3, "any": [1, "a"], "other": "x y" }))]);
        let function = "\n<function=f>\n<parameter=path>\n7\n8\n</parameter>\n<parameter=count>\n3\n</parameter>\n\
            <parameter=any>\n[1, \"a\"]\n</parameter>\n<parameter=other>\nx y\n</parameter>\n</function>\n";
        assert_eq!(read(function, &FUNCTION), wanted);
        let keys = "f\n<arg_key>path</arg_key>\n<arg_value>7\n8</arg_value>\n<arg_key>count</arg_key>\n<arg_value>3</arg_value>\n\
            <arg_key>any</arg_key><arg_value>[1, \"a\"]</arg_value><arg_key>other</arg_key><arg_value>x y</arg_value>\n";
        assert_eq!(read(keys, &KEYS), wanted);
        let invoke = "\n<invoke name=\"f\">\n<parameter name=\"path\">7\n8</parameter>\n<parameter name=\"count\">3</parameter>\n\
            <parameter name=\"any\">[1, \"a\"]</parameter><parameter name=\"other\">x y</parameter>\n</invoke>\n";
        assert_eq!(read(invoke, &INVOKE), wanted);
    }

    #[test]
    fn calls_may_have_no_arguments_and_follow_each_other() {
        let both = Some(vec![("f".to_owned(), json!({})), ("g".to_owned(), json!({ "count": 1 }))]);
        let text = "<function=f>\n</function>\n<function=g><parameter=count>1</parameter></function>";
        assert_eq!(read(text, &FUNCTION), both);
        assert_eq!(read("f", &KEYS), Some(vec![("f".to_owned(), json!({}))]));
        let text = "<invoke name=\"f\"></invoke><invoke name=\"g\"><parameter name=\"count\">1</parameter></invoke>";
        assert_eq!(read(text, &INVOKE), both);
    }

    #[test]
    fn a_text_that_may_be_missing_stays_a_text() {
        let optional = json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] });
        assert_eq!(read_value("12345", Some(&optional)), json!("12345"));
        assert_eq!(read_value("null", Some(&optional)), json!(null));
        assert_eq!(read_value("7", Some(&json!({ "type": ["integer", "string"] }))), json!(7));
    }

    #[test]
    fn other_texts_are_no_calls() {
        for text in ["", "f()", "<function=h>\n</function>", "<function=f>\n<parameter=count>\n1", "<function=f>\n"] {
            assert_eq!(read(text, &FUNCTION), None, "{text}");
        }
        assert_eq!(read("h\n", &KEYS), None);
    }
}
