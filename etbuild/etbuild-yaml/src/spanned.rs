//! A value with its span.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use etbuild_diagnostic::{Position, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, SeqAccess, Visitor};

use crate::Node;
use crate::deserializer::NodeDeserializer;
use crate::error::Error;

/// The struct name by which [`Spanned`] asks our deserializer for the place of a value.
pub const NAME: &str = "$etbuild_yaml::Spanned";

/// The sequence of parts: file, start line, start column, end line, end column, source line, value.
const PARTS: usize = 7;

/// A value with its span. Equality compares both.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// The span.
    pub span: Box<Span>,
}

impl<T> Spanned<T> {
    /// `value`, written at `span`.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span: Box::new(span) }
    }

    /// Another value with the same place.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: convert(self.value), span: self.span }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct(NAME, &["span", "value"], SpannedVisitor(PhantomData))
    }
}

struct SpannedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SpannedVisitor<T> {
    type Value = Spanned<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of a recipe or target file")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Spanned<T>, A::Error> {
        let file = next(&mut parts)?;
        let start = Position::new(next(&mut parts)?, next(&mut parts)?);
        let end = Position::new(next(&mut parts)?, next(&mut parts)?);
        let excerpt = next(&mut parts)?;
        Ok(Spanned::new(next(&mut parts)?, Span { file, start, end, excerpt }))
    }
}

fn next<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(parts: &mut A) -> Result<T, A::Error> {
    parts.next_element()?.ok_or_else(|| de::Error::invalid_length(PARTS, &"the parts of a place"))
}

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

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
