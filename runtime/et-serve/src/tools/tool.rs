//! A tool of a request.

use serde_json::{Value, json};

use crate::error::ApiError;

/// The parameter with the tools.
pub const PARAMETER: &str = "tools";

/// A tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name of the function.
    pub name: String,
    /// The JSON schema of the arguments.
    pub parameters: Value,
}

impl Tool {
    /// Reads the tool at an index of the parameter.
    ///
    /// # Errors
    /// A malformed tool, with its place.
    pub fn read((index, value): (usize, &Value)) -> Result<Self, ApiError> {
        let place = format!("{PARAMETER}[{index}]");
        let refused = |problem: &str| Err(ApiError::parameter(&place, format!("`{place}`: {problem}")));
        if value.get("type").is_some_and(|kind| kind != "function") {
            return refused("this server has no tools of another type than `function`");
        }
        let function = value.get("function").unwrap_or(value);
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
        match function.get("name").and_then(Value::as_str) {
            Some(name) if !name.is_empty() && name.len() <= 64 && name.chars().all(is_part) => {
                let mut parameters = function.get("parameters").and_then(Value::as_object).cloned().unwrap_or_default();
                // Arguments have names, whatever the schema leaves out.
                parameters.entry("type").or_insert_with(|| json!("object"));
                Ok(Self { name: name.to_owned(), parameters: Value::Object(parameters) })
            }
            Some(_) => refused("a name has 1 to 64 letters, digits, `_`, `-` and `.`"),
            None => refused("`function.name` is missing"),
        }
    }
}
