//! The parameters of a request.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::ApiError;

/// The parameters of a request, until a reader takes them.
pub struct Parameters(Map<String, Value>);

/// Parameters that change no answer here.
const IGNORED: &[&str] =
    &["metadata", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "service_tier", "store", "user"];

/// Parameters that this server lacks, each with the JSON values without an effect.
const LACKING: &[(&str, &[&str])] = &[
    ("audio", &[]),
    ("best_of", &["1"]),
    ("function_call", &["\"none\"", "\"auto\""]),
    ("functions", &["[]"]),
    ("modalities", &["[\"text\"]"]),
    ("prediction", &[]),
    ("reasoning_effort", &["\"none\""]),
    ("suffix", &["\"\""]),
    ("verbosity", &["\"medium\""]),
    ("web_search_options", &[]),
];

impl Parameters {
    /// The parameters of a JSON object.
    pub const fn new(object: Map<String, Value>) -> Self {
        Self(object)
    }

    /// Takes a parameter; `None` for a missing one and for null.
    ///
    /// # Errors
    /// A value of another type.
    pub fn take<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, ApiError> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => serde_json::from_value(value)
                .map(Some)
                .map_err(|error| ApiError::parameter(name, format!("`{name}`: {error}"))),
        }
    }

    /// Takes a whole number of at least 1.
    ///
    /// # Errors
    /// Another value.
    pub fn take_count(&mut self, name: &str) -> Result<Option<usize>, ApiError> {
        match self.take(name)? {
            Some(0) => Err(ApiError::parameter(name, format!("`{name}` is 0, but must be at least 1"))),
            count => Ok(count),
        }
    }

    /// Refuses the parameters that are left, except parameters without an effect.
    ///
    /// # Errors
    /// The first parameter that is unknown, or has a value that this server lacks.
    pub fn finish(self) -> Result<(), ApiError> {
        for (name, value) in self.0 {
            let neutral = LACKING.iter().find(|(lacking, _)| *lacking == name).map(|(_, neutral)| *neutral);
            if IGNORED.contains(&name.as_str()) || (value.is_null() && neutral.is_some()) {
                continue;
            }
            let text = value.to_string();
            let message = match neutral {
                Some(neutral) if neutral.contains(&text.as_str()) => continue,
                Some([]) => format!("this server has no `{name}`"),
                Some([neutral, ..]) => format!("this server has no `{name}` but {neutral}"),
                None => format!("there is no parameter `{name}`"),
            };
            return Err(ApiError::parameter(&name, message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parameters(value: Value) -> Parameters {
        Parameters::new(value.as_object().unwrap().clone())
    }

    #[test]
    fn a_value_of_another_type_names_its_parameter() {
        let error = parameters(json!({ "top_p": "much" })).take::<f32>("top_p").unwrap_err();
        assert_eq!(error.json()["error"]["param"], "top_p");
        assert!(parameters(json!({ "max_tokens": 0 })).take_count("max_tokens").is_err());
        assert_eq!(parameters(json!({ "max_tokens": null })).take_count("max_tokens").unwrap(), None);
    }

    #[test]
    fn parameters_that_ask_for_nothing_are_accepted() {
        let value = json!({ "best_of": 1, "functions": [], "user": "me", "suffix": null });
        assert_eq!(parameters(value).finish(), Ok(()));
        for value in
            [json!({ "best_of": 2 }), json!({ "audio": {} }), json!({ "temprature": 1 }), json!({ "suffix": "a" })]
        {
            assert!(parameters(value.clone()).finish().is_err(), "{value}");
        }
    }
}
