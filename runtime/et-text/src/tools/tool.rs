//! The tools that a model may call.

use et_llm::{Choice, Error, Tools};
use serde_json::{Value, json};

/// The parameter with the tools.
pub const TOOLS: &str = "tools";
/// The parameter with the choice of a tool.
pub const CHOICE: &str = "tool_choice";

/// A tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name of the function.
    pub name: String,
    /// The JSON schema of the arguments.
    pub parameters: Value,
}

impl Tool {
    /// Reads the tools of a conversation.
    ///
    /// # Errors
    /// A malformed tool, with its place; a choice of a tool that is missing.
    pub fn list(tools: &Tools) -> Result<Vec<Self>, Error> {
        let given: Vec<Value> = serde_json::from_str(&tools.json)
            .map_err(|error| Error::question(TOOLS, format!("`{TOOLS}` is no JSON list: {error}")))?;
        let list: Vec<Self> = given.iter().enumerate().map(Self::read).collect::<Result<_, _>>()?;
        match &tools.choice {
            Choice::Auto => Ok(list),
            _ if list.is_empty() => Err(Error::question(CHOICE, format!("`{CHOICE}` needs `{TOOLS}`"))),
            Choice::Named(name) if !list.iter().any(|tool| tool.name == *name) => {
                Err(Error::question(CHOICE, format!("there is no tool `{name}`")))
            }
            _ => Ok(list),
        }
    }

    /// Reads the tool at an index of the list.
    fn read((index, value): (usize, &Value)) -> Result<Self, Error> {
        let place = format!("{TOOLS}[{index}]");
        let refused = |problem: &str| Err(Error::question(&place, format!("`{place}`: {problem}")));
        if value.get("type").is_some_and(|kind| kind != "function") {
            return refused("there are no tools of another type than `function`");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_tools_are_refused_with_their_place() {
        for tool in [json!({}), json!({ "type": "web_search" }), json!({ "function": { "name": "a b" } })] {
            let tools = Tools::new(json!([{ "function": { "name": "f" } }, tool]).to_string());
            let Err(Error::Question { parameter, .. }) = Tool::list(&tools) else { panic!("{tool}") };
            assert_eq!(parameter, "tools[1]");
        }
        assert!(matches!(Tool::list(&Tools::new("{}".to_owned())), Err(Error::Question { .. })));
    }

    #[test]
    fn a_choice_names_a_tool() {
        let listed = |json: &str, choice| Tool::list(&Tools { choice, ..Tools::new(json.to_owned()) });
        let tools = r#"[{ "type": "function", "function": { "name": "f" } }]"#;
        assert_eq!(listed(tools, Choice::Named("f".to_owned())).unwrap()[0].name, "f");
        assert!(listed(tools, Choice::Named("g".to_owned())).is_err());
        assert!(listed("[]", Choice::Required).is_err() && listed("[]", Choice::Auto).is_ok());
    }
}
