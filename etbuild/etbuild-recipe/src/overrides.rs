//! `--set a.b=c`.

use etbuild_diagnostic::{Code, Diagnostic, Position, Span};
use etbuild_yaml::{Entry, Map, Node, Place, Source, Text, Value, limits, parse_after};

/// A `--set`: a path of keys with a YAML value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Override {
    /// The whole argument.
    text: String,
    /// The keys, outermost first.
    keys: Vec<String>,
}

impl Override {
    /// Parses `key.key=value`. The value is parsed when the recipe is loaded.
    ///
    /// # Errors
    /// `ETB0802` for a missing `=`, an empty key, or too many keys.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let (path, _) = text.split_once('=').ok_or_else(|| bad(text, "`=` is missing"))?;
        let keys: Vec<String> = path.split('.').map(str::to_owned).collect();
        if keys.iter().any(|key| key.trim() != key || key.is_empty()) {
            return Err(bad(text, "a key is empty or has spaces around it"));
        }
        if keys.len() >= limits::DEPTH {
            return Err(bad(text, "too many keys"));
        }
        Ok(Self { text: text.to_owned(), keys })
    }

    /// A tree with only this value.
    pub fn tree(&self) -> Result<Node, Diagnostic> {
        let source = Source::command_line(&self.text);
        let prefix = format!("{}=", self.keys.join("."));
        let value = parse_after(&source, &prefix)?;
        let place = Place::new(&source, Position::START, Position::new(1, column(&prefix)));
        Ok(self.keys.iter().rev().fold(value, |node, key| wrap(key, node, &place)))
    }
}

/// The column of the last character of `text`.
fn column(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

fn wrap(key: &str, value: Node, place: &Place) -> Node {
    let key = Text { text: key.to_owned(), place: place.clone() };
    Node { value: Value::Map(Map { entries: vec![Entry { key, value }] }), place: place.clone() }
}

fn bad(text: &str, reason: &str) -> Diagnostic {
    let message = format!("invalid `--set`: {reason}");
    Diagnostic::error(Code::BadOverride, message).at(Span::command_line(text)).help("write `--set key.key=value`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_without_keys_or_value_is_refused() {
        for text in ["verify", "=1", "a..b=1", ".a=1", "a =1"] {
            assert_eq!(Override::parse(text).unwrap_err().code, Code::BadOverride, "{text}");
        }
    }

    #[test]
    fn the_value_keeps_its_column_in_the_argument() {
        let tree = Override::parse("a.b=[x, y]").unwrap().tree().unwrap();
        let Value::Map(outer) = tree.value else { panic!("a map") };
        let Some(Node { value: Value::Map(inner), .. }) = outer.get("a") else { panic!("a map") };
        let span = inner.get("b").unwrap().place.span();
        assert_eq!((span.file, span.start, span.excerpt.as_deref()), (None, Position::new(1, 5), Some("a.b=[x, y]")));
    }
}
