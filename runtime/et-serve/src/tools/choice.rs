//! The tools of a request, and which of them the model has to call.

use et_llm::{Constraint, Text};
use serde_json::{Value, json};

use super::format::Format;
use super::formats::format_of;
use super::grammar::grammar;
use super::tool::{PARAMETER, Tool};
use crate::error::ApiError;
use crate::request::{Form, Parameters};

/// Which tool the model has to call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// None, or any.
    Auto,
    /// Any, at least one.
    Required,
    /// This one.
    Named(String),
}

/// The tools of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Tools {
    /// The tools, as the chat template gets them.
    pub json: String,
    /// The tools.
    pub list: Vec<Tool>,
    /// Which tool the model has to call.
    pub choice: Choice,
    /// Whether an answer may have several calls.
    is_several: bool,
}

const CHOICE: &str = "tool_choice";

impl Tools {
    /// Takes the parameters about tools; `None` without tools, and where the model may call none.
    ///
    /// # Errors
    /// A malformed tool, or a choice of a missing tool.
    pub fn take(parameters: &mut Parameters) -> Result<Option<Self>, ApiError> {
        let given: Vec<Value> = parameters.take(PARAMETER)?.unwrap_or_default();
        let choice = parameters.take::<Value>(CHOICE)?.unwrap_or(json!("auto"));
        let is_several = parameters.take("parallel_tool_calls")?.unwrap_or(true);
        let list: Vec<Tool> = given.iter().enumerate().map(Tool::read).collect::<Result<_, _>>()?;
        let choice = match (choice.as_str(), choice["function"]["name"].as_str()) {
            (Some("none"), _) => return Ok(None),
            (Some("auto"), _) => Choice::Auto,
            (Some("required"), _) => Choice::Required,
            (None, Some(name)) if list.iter().any(|tool| tool.name == name) => Choice::Named(name.to_owned()),
            (None, Some(name)) => return Err(ApiError::parameter(CHOICE, format!("there is no tool `{name}`"))),
            _ => {
                let message = "`tool_choice` is `none`, `auto`, `required`, or a function with its name";
                return Err(ApiError::parameter(CHOICE, message));
            }
        };
        if list.is_empty() {
            let message = "`tool_choice` needs `tools`";
            return if choice == Choice::Auto { Ok(None) } else { Err(ApiError::parameter(CHOICE, message)) };
        }
        Ok(Some(Self { json: Value::Array(given).to_string(), list, choice, is_several }))
    }

    /// The format of calls, by the chat template.
    ///
    /// # Errors
    /// A template without tools, or of a format that is not known.
    pub fn format(&self, text: &dyn Text) -> Result<&'static Format, ApiError> {
        let template = text.template().unwrap_or_default();
        if !template.contains(PARAMETER) {
            return Err(ApiError::parameter(PARAMETER, "the model's chat template has no tools"));
        }
        let unknown = "the model's chat template has tool calls in a format that this server does not read";
        format_of(template).ok_or_else(|| ApiError::parameter(PARAMETER, unknown))
    }

    /// The form of an answer that has to be a call; `None` for any answer.
    pub fn form(&self, format: &Format, text: &dyn Text) -> Option<Form> {
        let (tools, is_several): (Vec<&Tool>, bool) = match &self.choice {
            Choice::Auto => return None,
            Choice::Required => (self.list.iter().collect(), self.is_several),
            Choice::Named(name) => (self.list.iter().filter(|tool| tool.name == *name).collect(), false),
        };
        let constraint = Constraint::Grammar(grammar(format, &tools, is_several, text));
        Some(Form { parameter: CHOICE.to_owned(), constraint })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(value: Value) -> Result<Option<Tools>, ApiError> {
        Tools::take(&mut Parameters::new(value.as_object().unwrap().clone()))
    }

    #[test]
    fn a_choice_names_a_tool() {
        let tools = json!([{ "type": "function", "function": { "name": "f", "parameters": { "type": "object" } } }]);
        let choice = |choice: Value| taken(json!({ "tools": tools, "tool_choice": choice }));
        assert_eq!(choice(json!(null)).unwrap().unwrap().choice, Choice::Auto);
        assert_eq!(choice(json!("required")).unwrap().unwrap().choice, Choice::Required);
        let named = json!({ "type": "function", "function": { "name": "f" } });
        assert_eq!(choice(named).unwrap().unwrap().choice, Choice::Named("f".to_owned()));
        assert_eq!(choice(json!("none")).unwrap(), None);
        for wrong in [json!("any"), json!({ "type": "function", "function": { "name": "g" } }), json!(7)] {
            assert_eq!(choice(wrong).unwrap_err().json()["error"]["param"], CHOICE);
        }
        assert_eq!(taken(json!({ "tools": [] })).unwrap(), None);
        assert!(taken(json!({ "tool_choice": "required" })).is_err());
    }

    #[test]
    fn malformed_tools_are_refused_with_their_place() {
        for tool in [json!({}), json!({ "type": "web_search" }), json!({ "function": { "name": "a b" } })] {
            let error = taken(json!({ "tools": [{ "function": { "name": "f" } }, tool] })).unwrap_err().json();
            assert_eq!(error["error"]["param"], "tools[1]");
        }
    }
}
