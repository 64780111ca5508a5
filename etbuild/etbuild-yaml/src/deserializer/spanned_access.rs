//! Access to the parts of a value with its span.

use etbuild_diagnostic::Span;
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, SeqAccess, Visitor};

use super::NodeDeserializer;
use crate::Node;
use crate::error::Error;
use crate::spanned::PARTS;

/// The parts of a place, then the value.
pub struct SpannedAccess<'a> {
    node: &'a Node,
    span: Span,
    part: usize,
}

impl<'a> SpannedAccess<'a> {
    pub fn new(node: &'a Node) -> Self {
        Self { node, span: node.place.span(), part: 0 }
    }
}

impl<'de> SeqAccess<'de> for SpannedAccess<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.part += 1;
        let part = match self.part {
            1 => seed.deserialize(OptionalText(self.span.file.take())),
            2 => seed.deserialize(self.span.start.line.into_deserializer()),
            3 => seed.deserialize(self.span.start.column.into_deserializer()),
            4 => seed.deserialize(self.span.end.line.into_deserializer()),
            5 => seed.deserialize(self.span.end.column.into_deserializer()),
            6 => seed.deserialize(OptionalText(self.span.excerpt.take())),
            PARTS => seed.deserialize(NodeDeserializer { node: self.node }),
            _ => return Ok(None),
        };
        part.map(Some)
    }
}

/// A text or null, deserialized as an option.
struct OptionalText(Option<String>);

impl<'de> Deserializer<'de> for OptionalText {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Some(text) => visitor.visit_some(text.into_deserializer()),
            None => visitor.visit_none(),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
