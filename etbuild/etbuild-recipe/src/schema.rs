//! The JSON Schema of recipe files, for editors.

use schemars::transform::{Transform, transform_subschemas};
use schemars::{Schema, schema_for};
use serde_json::{Value, json};

use crate::Recipe;

/// The JSON Schema (2020-12) of a recipe file.
///
/// A file that extends other files may omit the keys of its base files, in maps at any depth, and `${name}` may replace
/// any scalar.
pub fn recipe_schema() -> Value {
    let mut schema = schema_for!(Recipe);
    AllowVariables.transform(&mut schema);
    let mut schema = schema.to_value();
    require_unless_extended(&mut schema);
    if let (Some(properties), Value::Object(more)) = (schema["properties"].as_object_mut(), composition()) {
        properties.extend(more);
    }
    schema.sort_all_objects();
    schema
}

/// The keys of composition, which are resolved before the recipe is typed.
fn composition() -> Value {
    let scalar = json!({ "type": ["string", "number", "boolean"] });
    json!({
        "extends": {
            "description": "Base recipe files, relative to this file, merged in order: maps merge by key, lists replace, \
                and null removes a key.",
            "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }],
        },
        "vars": {
            "description": "Variables for `${name}` in any value. `${env:NAME}` is an environment variable, and \
                `$${` is a literal `${`.",
            "type": "object",
            "additionalProperties": scalar,
        },
        "matrix": {
            "description": "Variables with several values each; the file expands to a recipe per combination, named \
                after the values.",
            "type": "object",
            "additionalProperties": { "anyOf": [scalar, { "type": "array", "items": scalar, "minItems": 1 }] },
        },
    })
}

fn require_unless_extended(schema: &mut Value) {
    let mut definitions = schema["$defs"].take();
    let required = take_required(schema, &mut definitions);
    schema["$defs"] = definitions;
    schema["if"] = json!({ "required": ["extends"] });
    schema["else"] = required;
}

/// Moves the required keys of a map and of its nested maps to a separate schema. The items of lists keep their required
/// keys: a list is replaced as a whole.
fn take_required(map: &mut Value, definitions: &mut Value) -> Value {
    let mut taken = json!({});
    if let Some(required) = map.as_object_mut().and_then(|map| map.remove("required")) {
        taken["required"] = required;
    }
    for (key, value) in map["properties"].as_object().into_iter().flatten() {
        let inner = take_required_of(value, definitions);
        if inner != json!({}) {
            taken["properties"][key] = inner;
        }
    }
    taken
}

fn take_required_of(value: &Value, definitions: &mut Value) -> Value {
    let Some(name) = referenced(value).or_else(|| referenced(&value["anyOf"][0])) else { return json!({}) };
    let mut definition = definitions[name].take();
    let taken = take_required(&mut definition, definitions);
    definitions[name] = definition;
    taken
}

/// The name of the definition that a schema stands for.
pub fn referenced(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// Allows `${name}` in place of a number, a boolean or an enumerated word.
struct AllowVariables;

impl Transform for AllowVariables {
    fn transform(&mut self, schema: &mut Schema) {
        if takes_variable(schema) {
            let description = schema.remove("description");
            let strict = schema.clone();
            *schema =
                schemars::json_schema!({ "anyOf": [strict, { "type": "string", "pattern": "^\\$\\{[^}]+\\}$" }] });
            schema.ensure_object().extend(description.map(|text| ("description".to_owned(), text)));
        } else {
            transform_subschemas(self, schema);
        }
    }
}

fn takes_variable(schema: &Schema) -> bool {
    is_number_or_boolean(schema.get("type")) || is_word(schema.get("oneOf"))
}

fn is_number_or_boolean(types: Option<&Value>) -> bool {
    let names = match types {
        Some(Value::Array(names)) => names.as_slice(),
        Some(name) => std::slice::from_ref(name),
        None => return false,
    };
    let is = |name: &str| names.iter().any(|other| other == name);
    !is("string") && (is("integer") || is("number") || is("boolean"))
}

fn is_word(choices: Option<&Value>) -> bool {
    choices.and_then(Value::as_array).is_some_and(|choices| choices.iter().all(|choice| choice.get("const").is_some()))
}
