//! The JSON Schema of target files, for editors.

use schemars::schema_for;
use serde_json::Value;

use crate::target::TargetFile;

/// The JSON Schema (2020-12) of a target file.
pub fn target_schema() -> Value {
    let mut schema = schema_for!(TargetFile).to_value();
    schema.sort_all_objects();
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SHIPPED;

    /// The YAML of a shipped file as JSON, the form that editors validate.
    fn json(text: &str) -> Value {
        let tree = etbuild_yaml::parse(&etbuild_yaml::Source::file("a", text.into())).unwrap();
        etbuild_yaml::read(&tree).unwrap()
    }

    #[test]
    fn the_schema_accepts_every_shipped_target_and_no_unknown_key() {
        let validator = jsonschema::validator_for(&target_schema()).unwrap();
        for (file, text) in SHIPPED {
            let errors: Vec<String> = validator.iter_errors(&json(text)).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{file}: {errors:?}");
            assert!(!validator.is_valid(&json(&format!("{text}colour: red\n"))));
        }
    }
}
