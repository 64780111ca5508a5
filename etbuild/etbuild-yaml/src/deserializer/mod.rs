//! serde's view of a tree.

mod access;
mod spanned_access;

use access::{ChoiceAccess, ListAccess, MapAccess};
use serde::Deserializer;
use serde::de::{IntoDeserializer, Visitor};
use spanned_access::SpannedAccess;

use crate::error::{Error, Kind, found};
use crate::{Map, Node, Value, spanned};

/// Deserializes a node. An error has the place of the innermost faulty node.
#[derive(Clone, Copy)]
pub struct NodeDeserializer<'a> {
    pub node: &'a Node,
}

impl NodeDeserializer<'_> {
    fn wrong_type(self, expected: &dyn serde::de::Expected) -> Error {
        Error::new(Kind::WrongType { expected: expected.to_string(), found: found(self.node) }).at(&self.node.place)
    }

    /// Rewrites serde's description of a value in the terms of recipes, and adds the place.
    fn settle<T>(self, result: Result<T, Error>) -> Result<T, Error> {
        result.map_err(|mut error| {
            if let (Kind::WrongType { found: named, .. }, None) = (&mut error.kind, &error.place) {
                *named = found(self.node);
            }
            error.at(&self.node.place)
        })
    }
}

/// The error for a choice that has content, and is written as its name alone.
fn with_content(mut error: Error, name: &str) -> Error {
    if let Kind::WrongType { expected, .. } = &mut error.kind {
        *expected = format!("`{name}` with a value, as in `{{ {name}: ... }}`");
    }
    error
}

fn visit_integer<'de, V: Visitor<'de>>(value: i128, visitor: V) -> Result<V::Value, Error> {
    if let Ok(value) = u64::try_from(value) {
        return visitor.visit_u64(value);
    }
    match i64::try_from(value) {
        Ok(value) => visitor.visit_i64(value),
        Err(_) => visitor.visit_i128(value),
    }
}

impl<'de> Deserializer<'de> for NodeDeserializer<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.settle(match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Integer(value) => visit_integer(*value, visitor),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(text) => visitor.visit_str(text),
            Value::List(items) => visitor.visit_seq(ListAccess::new(items)),
            Value::Map(map) => visitor.visit_map(MapAccess::new(map)),
        })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.node.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Error> {
        self.settle(visitor.visit_newtype_struct(self))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.node.value {
            Value::List(items) => self.settle(visitor.visit_seq(ListAccess::new(items))),
            _ => Err(self.wrong_type(&"a sequence")),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.node.value {
            Value::Map(map) => self.settle(visitor.visit_map(MapAccess::new(map))),
            _ => Err(self.wrong_type(&"a map")),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == spanned::NAME {
            return self.settle(visitor.visit_seq(SpannedAccess::new(self.node)));
        }
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.settle(match &self.node.value {
            Value::Text(text) => {
                visitor.visit_enum(text.as_str().into_deserializer()).map_err(|error| with_content(error, text))
            }
            Value::Map(map) => choice(map, variants).and_then(|choice| visitor.visit_enum(choice)),
            _ => Err(self.wrong_type(&choice_in_words(variants).as_str())),
        })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct tuple
        tuple_struct identifier
    }
}

/// The only entry of a map that represents a choice. With several entries, the second entry is the mistake.
fn choice<'a>(map: &'a Map, variants: &'static [&'static str]) -> Result<ChoiceAccess<'a>, Error> {
    let error = || Error::new(Kind::OneKey { found: map.entries.len(), allowed: variants });
    match map.entries.as_slice() {
        [entry] => Ok(ChoiceAccess { entry }),
        [_, second, ..] => Err(error().at(&second.key.place)),
        [] => Err(error()),
    }
}

fn choice_in_words(variants: &[&str]) -> String {
    format!("one of {}", crate::suggest::quoted(variants))
}
