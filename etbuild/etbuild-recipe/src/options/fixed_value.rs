//! The values of constant methods.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

/// The return value of a method without instructions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FixedValue {
    /// A scalar.
    Scalar(FixedScalar),
    /// Several.
    List(Vec<FixedScalar>),
}

/// A number, a boolean or a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FixedScalar {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Another number.
    Float(Float),
    /// A text.
    Text(String),
}

/// A number with a fraction. Two are equal when their bits are.
#[derive(Clone, Copy, Debug)]
pub struct Float(pub f64);

impl PartialEq for Float {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Float {}

impl Hash for Float {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl<'de> Deserialize<'de> for FixedScalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = FixedScalar;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number, a boolean or a text")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<FixedScalar, E> {
        Ok(FixedScalar::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<FixedScalar, E> {
        Ok(FixedScalar::Int(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<FixedScalar, E> {
        let number = i64::try_from(value);
        number.map(FixedScalar::Int).map_err(|_| de::Error::custom(format!("{value} exceeds 64-bit signed integers")))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<FixedScalar, E> {
        Ok(FixedScalar::Float(Float(value)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<FixedScalar, E> {
        Ok(FixedScalar::Text(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for FixedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = FixedValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number, a boolean, a text or a list of them")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<FixedValue, E> {
        ScalarVisitor.visit_bool(value).map(FixedValue::Scalar)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<FixedValue, E> {
        ScalarVisitor.visit_i64(value).map(FixedValue::Scalar)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<FixedValue, E> {
        ScalarVisitor.visit_u64(value).map(FixedValue::Scalar)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<FixedValue, E> {
        ScalarVisitor.visit_f64(value).map(FixedValue::Scalar)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<FixedValue, E> {
        ScalarVisitor.visit_str(text).map(FixedValue::Scalar)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<FixedValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(FixedValue::List(list))
    }
}

impl JsonSchema for FixedValue {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "FixedValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let scalar = json_schema!({ "type": ["string", "number", "boolean"] });
        json_schema!({ "anyOf": [scalar, { "type": "array", "items": scalar }] })
    }
}
