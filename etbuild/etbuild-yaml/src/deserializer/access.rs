//! Access to the parts of lists, maps and choices in order.

use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};

use super::NodeDeserializer;
use crate::error::{Error, Step};
use crate::{Entry, Map, Node};

/// The elements of a list.
pub struct ListAccess<'a> {
    items: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
}

impl<'a> ListAccess<'a> {
    pub fn new(items: &'a [Node]) -> Self {
        Self { items: items.iter().enumerate() }
    }
}

impl<'de> de::SeqAccess<'de> for ListAccess<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some((index, node)) = self.items.next() else { return Ok(None) };
        let element = seed.deserialize(NodeDeserializer { node });
        element.map(Some).map_err(|error| error.at(&node.place).inside(Step::Index(index)))
    }
}

/// The entries of a map.
pub struct MapAccess<'a> {
    entries: std::slice::Iter<'a, Entry>,
    current: Option<&'a Entry>,
}

impl<'a> MapAccess<'a> {
    pub fn new(map: &'a Map) -> Self {
        Self { entries: map.entries.iter(), current: None }
    }
}

fn in_key(entry: &Entry, error: Error) -> Error {
    error.at(&entry.key.place).inside(Step::Key(entry.key.text.clone()))
}

fn in_value(entry: &Entry, error: Error) -> Error {
    error.at(&entry.value.place).inside(Step::Key(entry.key.text.clone()))
}

impl<'de> de::MapAccess<'de> for MapAccess<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        self.current = self.entries.next();
        let Some(entry) = self.current else { return Ok(None) };
        let key = seed.deserialize(entry.key.text.as_str().into_deserializer());
        key.map(Some).map_err(|error: Error| in_key(entry, error))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let Some(entry) = self.current else { return Err(de::Error::custom("a value was requested before its key")) };
        seed.deserialize(NodeDeserializer { node: &entry.value }).map_err(|error| in_value(entry, error))
    }
}

/// A choice written as a map with a single entry: the key names the variant, the value is the content.
pub struct ChoiceAccess<'a> {
    pub entry: &'a Entry,
}

impl<'de> de::EnumAccess<'de> for ChoiceAccess<'_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        match seed.deserialize(self.entry.key.text.as_str().into_deserializer()) {
            Ok(variant) => Ok((variant, self)),
            Err(error) => Err(in_key(self.entry, Error::of_key(error))),
        }
    }
}

impl<'de> de::VariantAccess<'de> for ChoiceAccess<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        let value = de::Deserialize::deserialize(NodeDeserializer { node: &self.entry.value });
        value.map_err(|error| in_value(self.entry, error))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        let value = seed.deserialize(NodeDeserializer { node: &self.entry.value });
        value.map_err(|error| in_value(self.entry, error))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _length: usize, visitor: V) -> Result<V::Value, Error> {
        let value = de::Deserializer::deserialize_seq(NodeDeserializer { node: &self.entry.value }, visitor);
        value.map_err(|error| in_value(self.entry, error))
    }

    fn struct_variant<V: Visitor<'de>>(self, _fields: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        let value = de::Deserializer::deserialize_map(NodeDeserializer { node: &self.entry.value }, visitor);
        value.map_err(|error| in_value(self.entry, error))
    }
}
