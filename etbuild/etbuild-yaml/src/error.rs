//! The error of a deserializer: its kind, place and path.

use std::fmt;

use etbuild_diagnostic::{Code, Diagnostic};
use serde::de;

use crate::suggest::{help, quote, quoted, suggest};
use crate::{Node, Place, Value};

/// A step from a node to a child node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into the value of a key.
    Key(String),
    /// Into an element of a list.
    Index(usize),
}

/// The kind of the mistake.
#[derive(Debug)]
pub enum Kind {
    /// The type rejects the value, with the type's message.
    Refused(String),
    WrongType {
        expected: String,
        found: String,
    },
    UnknownKey {
        key: String,
        allowed: Vec<&'static str>,
    },
    NotAllowed {
        value: String,
        allowed: &'static [&'static str],
    },
    MissingKey(&'static str),
    /// A map that represents a choice has not exactly one key.
    OneKey {
        found: usize,
        allowed: &'static [&'static str],
    },
}

/// A mistake in a tree.
#[derive(Debug)]
pub struct Error {
    pub kind: Kind,
    pub place: Option<Place>,
    /// The path from the root to the faulty node, innermost step first.
    pub path: Vec<Step>,
}

impl Error {
    pub fn new(kind: Kind) -> Self {
        Self { kind, place: None, path: Vec::new() }
    }

    /// Sets the place of the error, unless an inner node has set the place.
    pub fn at(mut self, place: &Place) -> Self {
        self.place.get_or_insert_with(|| place.clone());
        self
    }

    /// Adds an outer step to the error's path.
    pub fn inside(mut self, step: Step) -> Self {
        self.path.push(step);
        self
    }

    /// The error of the value of a choice: the names of a choice written as a map are keys.
    pub fn of_key(mut self) -> Self {
        if let Kind::NotAllowed { value, allowed } = self.kind {
            self.kind = Kind::UnknownKey { key: value, allowed: allowed.to_vec() };
        }
        self
    }

    /// The same error where the outermost map also takes the keys `also`.
    pub fn with_root_keys(mut self, also: &[&'static str]) -> Self {
        if let (Kind::UnknownKey { allowed, .. }, [_]) = (&mut self.kind, self.path.as_slice()) {
            allowed.extend(also);
        }
        self
    }

    /// The diagnostic. `root` is the place of the tree, for errors without a better place.
    pub fn into_diagnostic(self, root: &Place) -> Diagnostic {
        let span = self.place.as_ref().unwrap_or(root).span();
        self.kind.describe().at(span)
    }
}

impl Kind {
    fn describe(self) -> Diagnostic {
        match self {
            Self::Refused(message) => refused(&message),
            Self::WrongType { expected, found } => wrong_type(&expected, &found),
            Self::UnknownKey { key, allowed } => {
                let message = format!("unknown key {}", quote(&key));
                choose(Diagnostic::error(Code::UnknownKey, message), &key, "the keys of this map are", &allowed)
            }
            Self::NotAllowed { value, allowed } => {
                let message = format!("invalid value {}", quote(&value));
                choose(Diagnostic::error(Code::BadValue, message), &value, "allowed values:", allowed)
            }
            Self::MissingKey(key) => {
                let message = format!("missing key `{key}`");
                Diagnostic::error(Code::MissingKey, message).help(format!("add `{key}:` to this map"))
            }
            Self::OneKey { found, allowed } => {
                let message = format!("expected exactly one key, found {found}");
                Diagnostic::error(Code::ExclusiveKeys, message).help(format!("keep one of {}", quoted(allowed)))
            }
        }
    }
}

/// The diagnostic of a wrong name with the hint; all names are in a note where the hint is one name.
fn choose(diagnostic: Diagnostic, name: &str, introduction: &str, allowed: &[&str]) -> Diagnostic {
    let diagnostic = diagnostic.help(help(name, allowed));
    match suggest(name, allowed.iter().copied()) {
        Some(_) => diagnostic.note(format!("{introduction} {}", quoted(allowed))),
        None => diagnostic,
    }
}

/// A rejection with the type's message; the text after the last semicolon is the hint.
fn refused(message: &str) -> Diagnostic {
    let (message, hint) = message.rsplit_once("; ").unwrap_or((message, "run `etbuild schema` for the allowed values"));
    Diagnostic::error(Code::BadValue, message).help(hint)
}

fn wrong_type(expected: &str, found: &str) -> Diagnostic {
    let (expected, hint) = in_plain_words(expected);
    if let Some(number) = found.strip_prefix("the whole number ").filter(|_| expected == "a whole number") {
        let message = format!("the whole number {number} is out of range");
        return Diagnostic::error(Code::BadValue, message).help("write a number of at most 18 digits");
    }
    let unquoted = expected == "a text" && found.starts_with("the ");
    let hint = if unquoted { "add quotation marks" } else { hint };
    Diagnostic::error(Code::WrongType, format!("expected {expected}, found {found}")).help(hint)
}

/// The user's word for serde's expectation, and an example.
fn in_plain_words(expected: &str) -> (&str, &str) {
    match expected {
        "a string" | "str" | "string" => ("a text", "write a text"),
        "a boolean" | "bool" => ("a boolean", "write `true` or `false`, without quotation marks"),
        "a sequence" => ("a list", "write `[a, b]`, or one `- item` per line"),
        "f32" | "f64" => ("a number", "write a number such as `0.5` or `1e-4`, without quotation marks"),
        "i8" | "i16" | "i32" | "i64" | "i128" | "u8" | "u16" | "u32" | "u64" | "usize" | "u128" => {
            ("a whole number", "write a whole number without unit or quotation marks")
        }
        _ if expected.starts_with("struct ") || expected == "a map" => ("a map", "write `key: value` pairs below it"),
        _ => (expected, "run `etbuild schema` for the allowed values"),
    }
}

/// A value as messages show values.
pub fn found(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => format!("the text {}", quote(text)),
        value => match value.to_text() {
            Some(text) => format!("{} {text}", value.kind().replacen("a ", "the ", 1)),
            None => value.kind().to_owned(),
        },
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.kind)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Kind::Refused(message.to_string()))
    }

    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(Kind::WrongType { expected: expected.to_string(), found: found.to_string() })
    }

    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(Kind::Refused(format!("{found} is out of range; write a number that fits {expected}")))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Kind::UnknownKey { key: field.to_owned(), allowed: expected.to_vec() })
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Kind::NotAllowed { value: variant.to_owned(), allowed: expected })
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Kind::MissingKey(field))
    }
}
