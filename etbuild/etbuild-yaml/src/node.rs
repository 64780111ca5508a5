//! The tree: values with places.

use crate::Place;

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where.
    pub place: Place,
}

/// A YAML value of the 1.2 core schema.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, `~` or an empty value.
    Null,
    /// `true` or `false`; `yes` and `on` are texts.
    Bool(bool),
    /// A whole number.
    Integer(i128),
    /// Another number.
    Float(f64),
    /// Another scalar, or a quoted scalar.
    Text(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping; the keys are texts.
    Map(Map),
}

impl Value {
    /// The kind of value, with an article.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }

    /// A scalar as a part of a longer text; `None` for lists, maps and null.
    pub fn to_text(&self) -> Option<String> {
        match self {
            Self::Bool(value) => Some(value.to_string()),
            Self::Integer(value) => Some(value.to_string()),
            Self::Float(value) => Some(value.to_string()),
            Self::Text(value) => Some(value.clone()),
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }
}

/// A text with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Where.
    pub place: Place,
}

/// A key of a map with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Text,
    /// The value.
    pub value: Node,
}

/// Entries in the order of the file. No key is there twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// The entries.
    pub entries: Vec<Entry>,
}

impl Map {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|entry| entry.key.text == key).map(|entry| &entry.value)
    }

    /// Takes `key` out.
    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        let index = self.entries.iter().position(|entry| entry.key.text == key)?;
        Some(self.entries.remove(index))
    }
}
