//! A value with its span.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use etbuild_diagnostic::{Position, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

/// The struct name by which [`Spanned`] asks our deserializer for the place of a value.
pub const NAME: &str = "$etbuild_yaml::Spanned";

/// The sequence of parts: file, start line, start column, end line, end column, source line, value.
pub const PARTS: usize = 7;

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
