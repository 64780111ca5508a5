//! A value or a list of values.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use etbuild_yaml::Spanned;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, SeqAccess, Unexpected, Visitor};

/// One value or a list, each with its place in the recipe.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OneOrMany<T>(pub Vec<Spanned<T>>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value, span } = Spanned::<Written<T>>::deserialize(deserializer)?;
        Ok(Self(match value {
            Written::One(value) => vec![Spanned { value, span }],
            Written::Many(values) => values,
        }))
    }
}

/// The two forms.
enum Written<T> {
    One(T),
    Many(Vec<Spanned<T>>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Written<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WrittenVisitor(PhantomData))
    }
}

struct WrittenVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for WrittenVisitor<T> {
    type Value = Written<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value or a list of values")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Written<T>, E> {
        T::deserialize(text.into_deserializer()).map(Written::One)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Written<T>, E> {
        T::deserialize(number.into_deserializer()).map(Written::One)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Written<T>, E> {
        T::deserialize(number.into_deserializer()).map(Written::One)
    }

    fn visit_i128<E: de::Error>(self, number: i128) -> Result<Written<T>, E> {
        Err(E::invalid_type(Unexpected::Other(&format!("the whole number {number}")), &"a whole number"))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Written<T>, E> {
        T::deserialize(number.into_deserializer()).map(Written::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<Written<T>, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(values)).map(Written::Many)
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OneOrMany".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}
