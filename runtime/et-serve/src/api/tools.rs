//! The parameters of a request about tools.

use et_llm::{Choice, Tools};
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::request::Parameters;

const CHOICE: &str = "tool_choice";

/// Takes the parameters about tools; `None` without tools, and where the model may call none.
///
/// # Errors
/// Tools that are no list, or a choice that is none.
pub fn take(parameters: &mut Parameters) -> Result<Option<Tools>, ApiError> {
    let given: Vec<Value> = parameters.take("tools")?.unwrap_or_default();
    let choice = parameters.take::<Value>(CHOICE)?.unwrap_or(json!("auto"));
    let is_several = parameters.take("parallel_tool_calls")?.unwrap_or(true);
    let choice = match (choice.as_str(), choice["function"]["name"].as_str()) {
        (Some("none"), _) => return Ok(None),
        (Some("auto"), _) if given.is_empty() => return Ok(None),
        (Some("auto"), _) => Choice::Auto,
        (Some("required"), _) => Choice::Required,
        (None, Some(name)) => Choice::Named(name.to_owned()),
        _ => {
            let message = "`tool_choice` is `none`, `auto`, `required`, or a function with its name";
            return Err(ApiError::parameter(CHOICE, message));
        }
    };
    Ok(Some(Tools { json: Value::Array(given).to_string(), choice, is_several }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(value: Value) -> Result<Option<Tools>, ApiError> {
        take(&mut Parameters::new(value.as_object().unwrap().clone()))
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
        for wrong in [json!("any"), json!({ "type": "function" }), json!(7)] {
            assert_eq!(choice(wrong).unwrap_err().json()["error"]["param"], CHOICE);
        }
        assert_eq!(taken(json!({ "tools": [] })).unwrap(), None);
        assert!(taken(json!({ "tools": {} })).is_err());
    }
}
