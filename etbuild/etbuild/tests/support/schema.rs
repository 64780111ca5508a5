//! The keys of a JSON Schema.

use std::collections::BTreeMap;

use serde_json::Value;

/// Every key that has a value of its own, with the words that the schema allows as value: `quantize.layers[].scheme` for a key of
/// the items of a list. A map of any names is one key.
pub fn leaves(schema: &Value) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    walk(schema, schema, "", &mut found);
    found
}

fn walk(root: &Value, schema: &Value, path: &str, found: &mut BTreeMap<String, Vec<String>>) {
    let schema = resolved(root, schema);
    if let Some(word) = schema["const"].as_str() {
        found.entry(path.to_owned()).or_default().push(word.to_owned());
        return;
    }
    let forms = ["anyOf", "oneOf"].iter().filter_map(|form| schema[form].as_array()).flatten();
    let forms: Vec<&Value> = forms.filter(|form| !is_aside(form)).collect();
    if !forms.is_empty() {
        forms.iter().for_each(|form| walk(root, form, path, found));
        return;
    }
    if let Some(properties) = schema["properties"].as_object() {
        for (name, value) in properties {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            walk(root, value, &path, found);
        }
        return;
    }
    let item = resolved(root, &schema["items"]);
    if item["properties"].is_object() || item["oneOf"].is_array() {
        walk(root, item, &format!("{path}[]"), found);
        return;
    }
    found.entry(path.to_owned()).or_default();
}

/// Whether a form is nothing but the absence of a value, or a variable in its place.
fn is_aside(form: &Value) -> bool {
    form["type"] == "null" || form["pattern"].as_str().is_some_and(|pattern| pattern.starts_with("^\\$\\{"))
}

/// The schema that a reference stands for.
fn resolved<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let name = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"));
    name.map_or(schema, |name| resolved(root, &root["$defs"][name]))
}
