//! `vars:` and `${name}`, on the parsed tree.
//!
//! A scalar that consists of `${name}` becomes the variable's value, with its type; inside a longer text, the value is
//! formatted as text. `${env:NAME}` is the environment variable, parsed as a plain scalar. `$${` is a literal `${`.

use std::collections::BTreeMap;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_yaml::{Map, Node, Place, Value, limits, quote, resolve_scalar, suggest};

use crate::RecipeFiles;

/// Replaces every `${name}` in a tree, and removes `vars:`.
///
/// # Errors
/// Every text with an unknown variable or a malformed substitution.
pub fn substitute(mut tree: Node, files: &dyn RecipeFiles) -> Result<Node, Vec<Diagnostic>> {
    let variables = take_variables(&mut tree).map_err(|error| vec![error])?;
    let mut substitution = Substitution::new(files, variables);
    let mut errors = Vec::new();
    substitution.walk(&mut tree, &mut errors);
    if errors.is_empty() { Ok(tree) } else { Err(errors) }
}

fn take_variables(tree: &mut Node) -> Result<BTreeMap<String, Value>, Diagnostic> {
    let Value::Map(root) = &mut tree.value else { return Ok(BTreeMap::new()) };
    match root.remove("vars").map(|entry| entry.value) {
        None => Ok(BTreeMap::new()),
        Some(Node { value: Value::Map(map), .. }) => scalars(map),
        Some(other) => Err(wrong_type(&other, "write `vars:` as a map from names to values")),
    }
}

fn scalars(map: Map) -> Result<BTreeMap<String, Value>, Diagnostic> {
    let scalar = |node: &Node| node.value.to_text().is_some();
    match map.entries.iter().find(|entry| !scalar(&entry.value)) {
        Some(entry) => Err(wrong_type(&entry.value, "write a text, a number or a boolean")),
        None => Ok(map.entries.into_iter().map(|entry| (entry.key.text, entry.value.value)).collect()),
    }
}

struct Substitution<'a> {
    files: &'a dyn RecipeFiles,
    /// Unexpanded variables.
    written: BTreeMap<String, Value>,
    /// Variables whose own `${...}` are replaced.
    known: BTreeMap<String, Value>,
    /// The variables that are being looked up, outermost first.
    open: Vec<String>,
    /// The bytes of all expansions so far; limited, because nested variables grow exponentially.
    bytes: usize,
}

impl<'a> Substitution<'a> {
    fn new(files: &'a dyn RecipeFiles, written: BTreeMap<String, Value>) -> Self {
        Self { files, written, known: BTreeMap::new(), open: Vec::new(), bytes: 0 }
    }

    /// Recursion is bounded by the depth limit of the parser.
    fn walk(&mut self, node: &mut Node, errors: &mut Vec<Diagnostic>) {
        match &mut node.value {
            Value::List(items) => items.iter_mut().for_each(|item| self.walk(item, errors)),
            Value::Map(map) => map.entries.iter_mut().for_each(|entry| self.walk(&mut entry.value, errors)),
            Value::Text(text) if text.contains("${") && errors.len() < limits::REPORTED => {
                match self.expand(text, &node.place) {
                    Ok(value) => node.value = value,
                    Err(error) => errors.push(error),
                }
            }
            _ => {}
        }
    }

    fn expand(&mut self, text: &str, place: &Place) -> Result<Value, Diagnostic> {
        match whole(text) {
            Some(name) => self.variable(name, place),
            None => self.inside(text, place).map(Value::Text),
        }
    }

    fn inside(&mut self, text: &str, place: &Place) -> Result<String, Diagnostic> {
        let (mut result, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once("${") {
            result.push_str(before);
            if result.ends_with('$') {
                result.push('{');
                rest = after;
                continue;
            }
            let (name, after) = after.split_once('}').ok_or_else(|| unclosed(place))?;
            result.push_str(&self.variable(name, place)?.to_text().unwrap_or_default());
            rest = after;
        }
        result.push_str(rest);
        Ok(result)
    }

    fn variable(&mut self, name: &str, place: &Place) -> Result<Value, Diagnostic> {
        let value = match (name.strip_prefix("env:"), self.known.get(name)) {
            (Some(name), _) => resolve_scalar(&self.files.variable(name).ok_or_else(|| unset(name, place))?),
            (None, Some(known)) => known.clone(),
            (None, None) => self.look_up(name, place)?,
        };
        self.charge(value.to_text().map_or(0, |text| text.len()), place)?;
        Ok(value)
    }

    fn look_up(&mut self, name: &str, place: &Place) -> Result<Value, Diagnostic> {
        let written = self.written.get(name).cloned().ok_or_else(|| self.unknown(name, place))?;
        let value = match written {
            Value::Text(text) if text.contains("${") => {
                self.open(name, place)?;
                let expanded = self.expand(&text, place);
                self.open.pop();
                expanded?
            }
            value => value,
        };
        self.known.insert(name.to_owned(), value.clone());
        Ok(value)
    }

    fn open(&mut self, name: &str, place: &Place) -> Result<(), Diagnostic> {
        if self.open.iter().any(|open| open == name) {
            return Err(bad(&format!("the variable `{name}` refers to itself"), place, "give the variable a value"));
        }
        if self.open.len() >= limits::DEPTH {
            return Err(bad("variables are nested too deeply", place, "reduce the nesting"));
        }
        self.open.push(name.to_owned());
        Ok(())
    }

    fn charge(&mut self, bytes: usize, place: &Place) -> Result<(), Diagnostic> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes as u64 <= limits::FILE_BYTES {
            return Ok(());
        }
        Err(bad("variables expand to more than 1 MiB of text", place, "repeat variables less often"))
    }

    fn unknown(&self, name: &str, place: &Place) -> Diagnostic {
        let near = suggest(name, self.written.keys().map(String::as_str));
        let help = near.map_or("define it under `vars:`".to_owned(), |near| format!("did you mean `${{{near}}}`?"));
        let message = format!("unknown variable {}", quote(name));
        Diagnostic::error(Code::UnknownVariable, message).at(place.span()).help(help)
    }
}

/// `name`, if `text` is exactly `${name}`.
fn whole(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${")?.strip_suffix('}')?;
    (!name.contains('}')).then_some(name)
}

fn unclosed(place: &Place) -> Diagnostic {
    bad("unclosed `${`", place, "add `}`, or write `$${` for a literal `${`")
}

fn bad(message: &str, place: &Place, help: &str) -> Diagnostic {
    Diagnostic::error(Code::BadSubstitution, message).at(place.span()).help(help)
}

fn unset(name: &str, place: &Place) -> Diagnostic {
    let message = format!("the environment variable {} is not set", quote(name));
    Diagnostic::error(Code::UnknownVariable, message).at(place.span()).help(format!("run `export {name}=...` first"))
}

fn wrong_type(node: &Node, help: &str) -> Diagnostic {
    let message = format!("unexpected {}", node.value.kind());
    Diagnostic::error(Code::WrongType, message).at(node.place.span()).help(help)
}
