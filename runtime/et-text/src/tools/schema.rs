//! The JSON schemas of arguments.

use serde_json::{Value, json};

/// The schema of any value.
const ANY: &Value = &Value::Null;

/// The properties of an object, in the order of the schema.
pub struct Properties<'s> {
    /// The required ones.
    pub needed: Vec<(&'s String, &'s Value)>,
    /// The others.
    pub others: Vec<(&'s String, &'s Value)>,
}

impl<'s> Properties<'s> {
    /// The properties of a schema.
    pub fn of(schema: &'s Value) -> Self {
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let (mut needed, others): (Vec<_>, _) =
            properties.partition(|(name, _)| required.iter().any(|other| other == *name));
        // A required name without a schema takes any value.
        let unlisted = required.iter().filter_map(|name| match name {
            Value::String(name) if !needed.iter().any(|(other, _)| *other == name) => Some((name, ANY)),
            _ => None,
        });
        let unlisted: Vec<_> = unlisted.collect();
        needed.extend(unlisted);
        Self { needed, others }
    }
}

/// White space in arguments: at most a blank between two parts.
const WHITE_SPACE: &str = r"\x20";

/// The part of a grammar that is a JSON text which a schema accepts.
pub fn json_rule(schema: &Value) -> String {
    let mut schema = if schema.is_object() { schema.clone() } else { json!({}) };
    if let Value::Object(keys) = &mut schema {
        keys.insert("x-guidance".to_owned(), json!({ "whitespace_pattern": WHITE_SPACE }));
    }
    format!("%json {schema}")
}

/// The texts of `enum` or `const`, one of them in a grammar; `None` for a schema without such a list.
pub fn alternatives(schema: &Value) -> Option<String> {
    let texts: Vec<&Value> = match (schema.get("enum").and_then(Value::as_array), schema.get("const")) {
        (Some(texts), _) => texts.iter().collect(),
        (None, text) => text.into_iter().collect(),
    };
    let texts: Vec<String> = texts.into_iter().filter(|text| text.is_string()).map(Value::to_string).collect();
    (!texts.is_empty()).then(|| format!("({})", texts.join(" | ")))
}

/// The schema of a property with the definitions that the property may name.
pub fn with_definitions(schema: &Value, whole: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(keys) = &mut schema {
        for name in ["$defs", "definitions"] {
            keys.extend(whole.get(name).map(|definitions| (name.to_owned(), definitions.clone())));
        }
    }
    schema
}
