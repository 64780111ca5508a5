//! Grammars of tool calls, in Lark's syntax.

use std::fmt::Write;

use et_llm::Text;
use serde_json::{Map, Value, json};

use super::format::{Body, Format};
use super::tool::Tool;

/// The grammar of an answer that is one call of one of the tools, or several.
pub fn grammar(format: &Format, tools: &[&Tool], is_several: bool, text: &dyn Text) -> String {
    let words = Words { text, format };
    let (before, between, behind) = match format.body {
        Body::Tagged => (String::new(), quoted("\n"), String::new()),
        Body::Named => (String::new(), String::new(), String::new()),
        Body::List => (words.open() + &quoted(" ["), quoted(", "), quoted("]")),
        Body::Parameters => (String::new(), quoted("; "), String::new()),
        Body::Pythonic => (quoted("["), quoted(", "), quoted("]")),
    };
    let more = if is_several { format!("({between} call)*") } else { String::new() };
    let names: Vec<String> = (0..tools.len()).map(|index| format!("call_{index}")).collect();
    let mut grammar = format!("start: {before} call {more} {behind}\ncall: {}\n", names.join(" | "));
    for (index, tool) in tools.iter().enumerate() {
        let rule = format!("call_{index}");
        // Writing to a text does not fail.
        let _written = match format.body {
            Body::Pythonic => write!(grammar, "{}", pythonic(tool, &rule)),
            _ => writeln!(grammar, "{rule}: {}", words.call(tool)),
        };
    }
    grammar
}

/// The texts of a format as parts of a grammar.
struct Words<'f> {
    text: &'f dyn Text,
    format: &'f Format,
}

impl Words<'_> {
    fn open(&self) -> String {
        self.format.opens.first().map(|open| self.word(open)).unwrap_or_default()
    }

    /// A text, or a special token with this name.
    fn word(&self, word: &str) -> String {
        self.text.special(word).map_or_else(|| quoted(word), |token| format!("<[{token}]>"))
    }

    fn call(&self, tool: &Tool) -> String {
        let (name, arguments) = (json!(tool.name).to_string(), json_rule(&tool.parameters));
        let object = |key: &str| {
            let start = quoted(&format!("{{\"name\": {name}, \"{key}\": "));
            format!("{start} {arguments} {}", quoted("}"))
        };
        match self.format.body {
            Body::Tagged => {
                let close = self.format.close.map(|close| self.word(close)).unwrap_or_default();
                format!("{} {} {} {} {close}", self.open(), quoted("\n"), object("arguments"), quoted("\n"))
            }
            Body::Named => format!("{} {} {} {arguments}", self.open(), quoted(&tool.name), self.word("[ARGS]")),
            Body::Parameters => object("parameters"),
            Body::List | Body::Pythonic => object("arguments"),
        }
    }
}

/// A text in quotes.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}

/// White space in arguments: at most a blank between two parts.
const WHITE_SPACE: &str = r"\x20";

/// A JSON text that a schema accepts.
fn json_rule(schema: &Value) -> String {
    let mut schema = if schema.is_object() { schema.clone() } else { json!({}) };
    if let Value::Object(keys) = &mut schema {
        keys.insert("x-guidance".to_owned(), json!({ "whitespace_pattern": WHITE_SPACE }));
    }
    format!("%json {schema}")
}

/// The rules of a call as in Python: required arguments first, each in the order of the schema.
fn pythonic(tool: &Tool, rule: &str) -> String {
    let none = Map::new();
    let properties = tool.parameters.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = tool.parameters.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_required = |name: &str| required.iter().any(|other| other == name);
    let argument = |(name, schema): (&String, &Value)| {
        format!("{} {}", quoted(&format!("{name}=")), json_rule(&with_definitions(schema, &tool.parameters)))
    };
    let (needed, others): (Vec<_>, Vec<_>) = properties.iter().partition(|(name, _)| is_required(name));
    let needed: Vec<String> = needed.into_iter().map(argument).collect();
    let others: Vec<String> = others.into_iter().map(argument).collect();
    let comma = quoted(", ");
    // Each rule has the optional arguments from an index on, behind other arguments.
    let mut rules = String::new();
    for (index, argument) in others.iter().enumerate() {
        let _written = writeln!(rules, "{rule}_{index}: ({comma} {argument})? {rule}_{}", index + 1);
    }
    let _written = writeln!(rules, "{rule}_{}: \"\"", others.len());
    let mut firsts: Vec<String> = vec![format!("{} {rule}_0", needed.join(&format!(" {comma} ")))];
    if needed.is_empty() {
        let first = |(index, argument): (usize, &String)| format!("{argument} {rule}_{}", index + 1);
        firsts = others.iter().enumerate().map(first).chain(["\"\"".to_owned()]).collect();
    }
    format!("{rule}: {} ({}) {}\n{rules}", quoted(&format!("{}(", tool.name)), firsts.join(" | "), quoted(")"))
}

/// The schema of a property with the definitions that the property may name.
fn with_definitions(schema: &Value, whole: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(keys) = &mut schema {
        for name in ["$defs", "definitions"] {
            keys.extend(whole.get(name).map(|definitions| (name.to_owned(), definitions.clone())));
        }
    }
    schema
}
