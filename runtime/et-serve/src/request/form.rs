//! The form of an answer: `response_format`, and the names of other servers.

use et_llm::Constraint;
use serde_json::{Map, Value, json};

use super::parameters::Parameters;
use crate::error::ApiError;

/// The form of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The parameter that asks for the form.
    pub parameter: String,
    /// The form.
    pub constraint: Constraint,
}

/// Makes a constraint of a value; `None` for a value of another type.
type Make = fn(&Value) -> Option<Constraint>;

/// The kinds of forms: their names in `structured_outputs` of vLLM, and as parameters of their own in earlier versions.
const KINDS: &[(&str, &str, Make)] = &[
    ("json", "guided_json", schema),
    ("regex", "guided_regex", |value| value.as_str().map(|text| Constraint::Regex(text.to_owned()))),
    ("grammar", "guided_grammar", |value| value.as_str().map(|text| Constraint::Grammar(text.to_owned()))),
    ("choice", "guided_choice", choice),
];

const FORMAT: &str = "response_format";
const STRUCTURED: &str = "structured_outputs";

impl Form {
    /// The form of the answer that the choice of a tool demands.
    pub fn of_tool(constraint: Constraint) -> Self {
        Self { parameter: "tool_choice".to_owned(), constraint }
    }

    /// Takes the parameters about the form; `None` for any form.
    ///
    /// # Errors
    /// An unknown kind, a value of another type, or several forms.
    pub fn take(parameters: &mut Parameters) -> Result<Option<Self>, ApiError> {
        let mut forms = Vec::new();
        forms.extend(parameters.take::<Map<String, Value>>(FORMAT)?.map(|format| response_format(&format)));
        let structured = parameters.take::<Map<String, Value>>(STRUCTURED)?.unwrap_or_default();
        for (name, value) in &structured {
            let kind = KINDS.iter().find(|(known, ..)| known == name).map(|(.., make)| *make);
            let refused = || ApiError::parameter(STRUCTURED, format!("`{STRUCTURED}` has no form `{name}`"));
            forms.push(made(STRUCTURED, kind.ok_or_else(refused)?, value).map(Some));
        }
        for (_, name, make) in KINDS {
            forms.extend(parameters.take::<Value>(name)?.map(|value| made(name, *make, &value).map(Some)));
        }
        let mut forms = forms.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten();
        match (forms.next(), forms.next()) {
            (_, Some(second)) => Err(ApiError::parameter(&second.parameter, "an answer has one form")),
            (form, None) => Ok(form),
        }
    }
}

fn made(name: &str, make: Make, value: &Value) -> Result<Form, ApiError> {
    let constraint = make(value);
    let wrong = || ApiError::parameter(name, format!("`{name}` has a value of another type: {value}"));
    Ok(Form { parameter: name.to_owned(), constraint: constraint.ok_or_else(wrong)? })
}

/// A JSON schema: an object, or the text of one.
fn schema(value: &Value) -> Option<Constraint> {
    match value {
        Value::String(text) => Some(Constraint::JsonSchema(text.clone())),
        Value::Object(_) => Some(Constraint::JsonSchema(value.to_string())),
        _ => None,
    }
}

/// One of several texts.
fn choice(value: &Value) -> Option<Constraint> {
    let texts: Vec<&str> = value.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
    let texts: Vec<String> = texts.into_iter().map(|text| json!(text).to_string()).collect();
    (!texts.is_empty()).then(|| Constraint::Grammar(format!("start: {}", texts.join(" | "))))
}

/// The form of `response_format`.
fn response_format(format: &Map<String, Value>) -> Result<Option<Form>, ApiError> {
    let refused = |message: String| Err(ApiError::parameter(FORMAT, message));
    let form = |constraint| Ok(Some(Form { parameter: FORMAT.to_owned(), constraint }));
    match format.get("type").and_then(Value::as_str) {
        Some("text") => Ok(None),
        Some("json_object") => match format.get("schema") {
            None | Some(Value::Null) => form(Constraint::JsonObject),
            Some(schema) => form(Constraint::JsonSchema(schema.to_string())),
        },
        Some("json_schema") => match format.get("json_schema").and_then(|outer| outer.get("schema")) {
            Some(schema @ (Value::Object(_) | Value::Bool(_))) => form(Constraint::JsonSchema(schema.to_string())),
            _ => refused("`response_format.json_schema.schema` is missing, or is no JSON schema".to_owned()),
        },
        Some(other) => refused(format!("this server has no `response_format` of type `{other}`")),
        None => refused("`response_format.type` is missing".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(value: Value) -> Result<Option<Constraint>, ApiError> {
        let mut parameters = Parameters::new(value.as_object().unwrap().clone());
        Form::take(&mut parameters).map(|form| form.map(|form| form.constraint))
    }

    #[test]
    fn a_form_has_several_names() {
        let schema = json!({ "type": "integer" });
        let expected = Some(Constraint::JsonSchema(schema.to_string()));
        for value in [
            json!({ "response_format": { "type": "json_schema", "json_schema": { "name": "a", "schema": schema } } }),
            json!({ "response_format": { "type": "json_object", "schema": schema } }),
            json!({ "structured_outputs": { "json": schema } }),
            json!({ "guided_json": schema.to_string() }),
        ] {
            assert_eq!(taken(value.clone()).unwrap(), expected, "{value}");
        }
        let object = json!({ "response_format": { "type": "json_object" } });
        assert_eq!(taken(object).unwrap(), Some(Constraint::JsonObject));
        let choice = Constraint::Grammar(r#"start: "a\"b" | "c""#.to_owned());
        assert_eq!(taken(json!({ "guided_choice": ["a\"b", "c"] })).unwrap(), Some(choice));
        assert_eq!(taken(json!({ "response_format": { "type": "text" }, "guided_json": null })).unwrap(), None);
    }

    #[test]
    fn other_forms_are_refused_with_their_parameter() {
        for value in [
            json!({ "response_format": { "type": "xml" } }),
            json!({ "response_format": {} }),
            json!({ "response_format": { "type": "json_schema", "json_schema": { "name": "a" } } }),
            json!({ "structured_outputs": { "yaml": "" } }),
            json!({ "guided_regex": 7 }),
            json!({ "guided_choice": [] }),
            json!({ "guided_regex": "a", "guided_grammar": "b" }),
        ] {
            let error = taken(value.clone()).unwrap_err().json();
            assert!(error["error"]["param"].is_string(), "{value}");
        }
    }
}
