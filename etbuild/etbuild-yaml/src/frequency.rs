//! Frequencies with units.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::{self, Deserialize, Deserializer};

use crate::byte_size::scaled;

/// The units, largest first.
const UNITS: &[(&str, u64)] = &[("GHz", 1_000_000_000), ("MHz", 1_000_000), ("kHz", 1_000), ("Hz", 1)];

/// A frequency in Hertz, greater than zero, written `64 MHz`, `12.5MHz` or `1 GHz`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Frequency(pub u64);

impl Frequency {
    /// Parses a frequency; `None` for a text that is no positive whole number of Hertz with a unit.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (digits, factor) =
            UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?.trim_end(), *factor)))?;
        scaled(digits, factor).filter(|hertz| *hertz > 0).map(Self)
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, factor) = UNITS.iter().find(|(_, factor)| self.0 >= *factor).unwrap_or(&("Hz", 1));
        write!(formatter, "{} {unit}", self.0 as f64 / *factor as f64)
    }
}

impl<'de> Deserialize<'de> for Frequency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let message =
            || format!("{} is not a frequency; write a number and a unit: `64 MHz`", crate::suggest::quote(&text));
        Self::parse(&text).ok_or_else(|| de::Error::custom(message()))
    }
}

impl JsonSchema for Frequency {
    fn schema_name() -> Cow<'static, str> {
        "Frequency".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A frequency, written `64 MHz`, `12.5MHz` or `1 GHz`.",
            "type": "string",
            "pattern": "^[0-9]+(\\.[0-9]+)? *(GHz|MHz|kHz|Hz)$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_are_whole_numbers_of_hertz() {
        assert_eq!(Frequency::parse("12.5 MHz"), Some(Frequency(12_500_000)));
        assert_eq!(Frequency::parse("1GHz"), Some(Frequency(1_000_000_000)));
        for text in ["", "64", "0 Hz", "1.5 Hz", "-1 MHz", "1 mhz", "MHz"] {
            assert_eq!(Frequency::parse(text), None, "{text}");
        }
        assert_eq!(Frequency(12_500_000).to_string(), "12.5 MHz");
    }
}
