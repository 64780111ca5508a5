//! The reference page of all options, from the schema.

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::schema::{recipe_schema, referenced};

/// A Markdown page that describes every key of a recipe, in alphabetical order, keys of inner maps with dots.
pub fn reference_markdown() -> String {
    let schema = recipe_schema();
    let mut page = Page { definitions: &schema["$defs"], text: heading(&schema) };
    page.keys("", &schema, &schema["else"]);
    page.text
}

fn heading(schema: &Value) -> String {
    let about = text(&schema["description"]);
    format!("# Recipe\n\n{about}\n\n| Key | Value | Meaning |\n| --- | --- | --- |\n")
}

struct Page<'a> {
    definitions: &'a Value,
    text: String,
}

impl<'a> Page<'a> {
    /// Writes a row for each key of a map, followed by the rows of nested maps; `whole` has the required keys of the
    /// whole map.
    fn keys(&mut self, prefix: &str, map: &'a Value, whole: &Value) {
        for (key, value) in object(&map["properties"]) {
            let path = format!("{prefix}{key}");
            self.row(&path, value, contains(&whole["required"], key));
            self.inside(&path, self.resolve(value), &whole["properties"][key]);
        }
    }

    fn inside(&mut self, path: &str, value: &'a Value, whole: &Value) {
        let prefix = format!("{path}.");
        self.keys(&prefix, value, whole);
        for choice in array(&value["oneOf"]).iter().filter(|choice| choice.get("properties").is_some()) {
            for (key, content) in object(&choice["properties"]) {
                let (path, content) = (format!("{prefix}{key}"), self.resolve(content));
                self.line(&path, self.kind(content), text(&choice["description"]));
                self.keys(&format!("{path}."), content, content);
            }
        }
        let entry = self.resolve(&value["additionalProperties"]);
        if entry.is_object() {
            self.inside(&format!("{prefix}NAME"), entry, &value["additionalProperties"]);
        }
    }

    fn row(&mut self, path: &str, value: &'a Value, required: bool) {
        let kind = self.kind(self.resolve(value));
        let kind = if required { format!("{kind}, required") } else { kind };
        let meaning = format!("{}{}{}", text(&value["description"]), default(value), words(self.resolve(value)));
        self.line(path, kind, &meaning);
    }

    fn line(&mut self, path: &str, kind: String, meaning: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "| `{path}` | {kind} | {} |", meaning.replace('\n', " ").replace('|', "\\|"));
    }

    /// The schema that a value has once references, `null` and `${name}` are left aside.
    fn resolve(&self, value: &'a Value) -> &'a Value {
        if let Some(name) = referenced(value) {
            return self.resolve(&self.definitions[name]);
        }
        let variants = array(&value["anyOf"]);
        let first = variants.first().filter(|_| variants.get(1).is_some_and(is_aside));
        first.map_or(value, |first| self.resolve(first))
    }

    /// The type of a value in a word or two.
    fn kind(&self, value: &'a Value) -> String {
        let variants = array(&value["anyOf"]);
        if !variants.is_empty() {
            let kinds: Vec<String> = variants.iter().map(|variant| self.kind(self.resolve(variant))).collect();
            return kinds.join(" or ");
        }
        match value["type"].as_array().and_then(|types| types.first()).unwrap_or(&value["type"]).as_str() {
            Some("array") => format!("list of {}s", self.kind(self.resolve(&value["items"]))),
            Some("string") if array(&value["type"]).iter().any(|other| other == "integer") => "size".to_owned(),
            Some("string") => "text".to_owned(),
            Some("integer") => "whole number".to_owned(),
            Some("object") => "map".to_owned(),
            Some(other) => other.to_owned(),
            None if value["oneOf"][0].get("const").is_some() => "word".to_owned(),
            None => "map with one key".to_owned(),
        }
    }
}

/// Whether an alternative is `null` or `${name}`, which every optional or scalar value has.
fn is_aside(variant: &Value) -> bool {
    variant["type"] == "null" || text(&variant["pattern"]).starts_with("^\\$")
}

fn default(value: &Value) -> String {
    value.get("default").and_then(Value::as_str).map_or_else(String::new, |default| format!(" Default: `{default}`."))
}

/// The allowed words, each with its meaning.
fn words(value: &Value) -> String {
    let word = |choice: &Value| Some(format!(" `{}`: {}", choice["const"].as_str()?, text(&choice["description"])));
    array(&value["oneOf"]).iter().filter_map(word).collect()
}

fn contains(names: &Value, name: &str) -> bool {
    array(names).iter().any(|other| other == name)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_row_with_its_kind_and_meaning() {
        let page = reference_markdown();
        for row in [
            "| `etbuild` | whole number, required | The version of the recipe format: `1`. |",
            "| `model` | map with one key, required | The source of the model. |",
            "| `model.pt2` | text | An archive written by `torch.export.save`: the method `forward`. |",
            "| `targets` | list of texts | Names of targets, from `etbuild targets list`. Each target gets a binary. |",
            "| `budget.flash` | size | The largest use of read-only banks (flash) on bare metal, without verification data. |",
            "| `inputs.NAME.audio.rate` | whole number, required | The sampling rate",
            "| `inputs.NAME.image.crop` | whole number or list of whole numbers | The size of the center",
            "| `extends` | text or list of texts | Base recipe files",
            "| `verify.outputs` | text | The prefix of the names of reference outputs in that file or in `reference`; a \
             number from 0 follows. \
             Default: `output_`. |",
        ] {
            assert!(page.contains(row), "{row}\n{page}");
        }
        assert!(
            page.contains("`memory.planner` | word |")
                && page.contains("`naive`: Every tensor has its own memory: no reuse.")
        );
    }

    #[test]
    fn every_row_has_a_meaning() {
        assert!(!reference_markdown().contains("|  |"));
    }
}
