//! Numbers and fractions.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};

use super::Float;

/// A finite number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Number(pub Float);

impl Number {
    /// The value in single precision, in which preprocessing computes.
    pub fn value(self) -> f32 {
        self.0.0 as f32
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        number.is_finite().then_some(Self(Float(number))).ok_or_else(|| de::Error::custom("expected a finite number"))
    }
}

impl JsonSchema for Number {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

/// A factor: a number, or a fraction such as `1/255`, which divides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fraction {
    /// The multiplier.
    pub numerator: Number,
    /// The divisor, not 0.
    pub denominator: Number,
}

impl Default for Fraction {
    fn default() -> Self {
        Self { numerator: Number(Float(1.0)), denominator: Number(Float(255.0)) }
    }
}

impl<'de> Deserialize<'de> for Fraction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FractionVisitor)
    }
}

struct FractionVisitor;

impl Visitor<'_> for FractionVisitor {
    type Value = Fraction;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number, or a fraction such as `1/255`")
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Fraction, E> {
        fraction(number, 1.0)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Fraction, E> {
        fraction(number as f64, 1.0)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Fraction, E> {
        fraction(number as f64, 1.0)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Fraction, E> {
        let parts = text.split_once('/').and_then(|(numerator, denominator)| {
            Some((numerator.trim().parse().ok()?, denominator.trim().parse().ok()?))
        });
        parts.map_or_else(|| Err(mistake()), |(numerator, denominator)| fraction(numerator, denominator))
    }
}

fn fraction<E: de::Error>(numerator: f64, denominator: f64) -> Result<Fraction, E> {
    let is_good = numerator.is_finite() && denominator.is_finite() && denominator != 0.0;
    let number = |number| Number(Float(number));
    is_good.then(|| Fraction { numerator: number(numerator), denominator: number(denominator) }).ok_or_else(mistake)
}

fn mistake<E: de::Error>() -> E {
    de::Error::custom("expected a number, or a fraction such as `1/255`")
}

impl JsonSchema for Fraction {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Fraction".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "number" }, { "type": "string", "pattern": "^([0-9.]+ */ *[0-9.]+|.*\\$\\{.*\\}.*)$" }] })
    }
}
