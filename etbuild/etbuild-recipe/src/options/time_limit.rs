//! Durations with units.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};

/// Milliseconds per unit; `ms` precedes its suffix `s`.
const UNITS: &[(&str, u64)] = &[("ms", 1), ("min", 60_000), ("s", 1_000)];

/// A time limit, written `500 ms`, `60 s` or `2 min`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeLimit(pub Duration);

impl TimeLimit {
    fn parse(text: &str) -> Option<Self> {
        let split = |(unit, factor): &(&str, u64)| Some((text.strip_suffix(unit)?.trim_end(), *factor));
        let (digits, factor) = UNITS.iter().find_map(split)?;
        let valid = digits.bytes().all(|byte| byte.is_ascii_digit());
        let milliseconds = digits.parse::<u64>().ok().filter(|_| valid)?.checked_mul(factor)?;
        Some(Self(Duration::from_millis(milliseconds)))
    }
}

impl Default for TimeLimit {
    /// A minute.
    fn default() -> Self {
        Self(Duration::from_secs(60))
    }
}

impl<'de> Deserialize<'de> for TimeLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TimeLimitVisitor)
    }
}

struct TimeLimitVisitor;

impl Visitor<'_> for TimeLimitVisitor {
    type Value = TimeLimit;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a time with a unit such as `60 s`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<TimeLimit, E> {
        let message = || format!("{} is not a duration; write a number and a unit: `60 s`", etbuild_yaml::quote(text));
        TimeLimit::parse(text).ok_or_else(|| de::Error::custom(message()))
    }
}

impl JsonSchema for TimeLimit {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "TimeLimit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^([0-9]+ *(ms|s|min)|.*\\$\\{.*\\}.*)$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        let seconds = |text| TimeLimit::parse(text).map(|limit| limit.0.as_secs_f64());
        assert_eq!((seconds("500 ms"), seconds("60s"), seconds("2 min")), (Some(0.5), Some(60.0), Some(120.0)));
        assert!(["60", "s", "1.5 s", "-1 s", "1 h", "+1 s"].iter().all(|text| seconds(text).is_none()));
    }
}
