//! Sizes with units.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::{self, Deserialize, Deserializer, Visitor};

/// The units, largest first: powers of 1024 with an `i`, powers of 1000 without.
const UNITS: &[(&str, u64)] = &[
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1_000),
    ("B", 1),
];

/// A number of bytes, written `700 MiB`, `16KiB`, `1.5 GB` or `512` (bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ByteSize(pub u64);

impl ByteSize {
    /// Parses a size; `None` if the text is not a number with a unit, or not a whole number of bytes.
    pub fn parse(text: &str) -> Option<Self> {
        let (digits, factor) = split_unit(text.trim());
        scaled(digits, factor).map(Self)
    }
}

/// The number in `digits`, perhaps with a fraction, times `factor`, where that is a whole number.
pub(crate) fn scaled(digits: &str, factor: u64) -> Option<u64> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return digits.parse::<u64>().ok()?.checked_mul(factor);
    }
    let (whole, fraction) = digits.split_once('.')?;
    let whole = whole.parse::<u64>().ok()?.checked_mul(factor)?;
    whole.checked_add(part(fraction, factor)?)
}

fn split_unit(text: &str) -> (&str, u64) {
    let unit = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?.trim_end(), *factor)));
    unit.unwrap_or((text, 1))
}

/// `0.fraction` of `factor`, where that is a whole number.
fn part(fraction: &str, factor: u64) -> Option<u64> {
    let digits = u32::try_from(fraction.len()).ok()?;
    let valid = fraction.bytes().all(|byte| byte.is_ascii_digit());
    let scale = 10_u128.checked_pow(digits).filter(|_| valid && digits > 0)?;
    let product = fraction.parse::<u128>().ok()?.checked_mul(u128::from(factor))?;
    if product % scale == 0 { u64::try_from(product / scale).ok() } else { None }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = |(_, factor): &&(&str, u64)| {
            factor.is_power_of_two() && self.0 >= *factor && self.0.is_multiple_of(*factor)
        };
        match UNITS.iter().find(exact) {
            Some((unit, factor)) => write!(formatter, "{} {unit}", self.0 / factor),
            None => write!(formatter, "{} B", self.0),
        }
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ByteSizeVisitor)
    }
}

struct ByteSizeVisitor;

impl Visitor<'_> for ByteSizeVisitor {
    type Value = ByteSize;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a size such as `700 MiB`")
    }

    fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<ByteSize, E> {
        Ok(ByteSize(bytes))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ByteSize, E> {
        let message = || format!("{} is not a size; write a number and a unit: `700 MiB`", crate::suggest::quote(text));
        ByteSize::parse(text).ok_or_else(|| de::Error::custom(message()))
    }
}

impl JsonSchema for ByteSize {
    fn schema_name() -> Cow<'static, str> {
        "ByteSize".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number of bytes, written `700 MiB`, `16KiB`, `1.5 GB` or `512` (bytes).",
            "type": ["string", "integer"],
            "minimum": 0,
            "pattern": "^([0-9]+(\\.[0-9]+)? *(GiB|GB|MiB|MB|KiB|kB|B)?|.*\\$\\{.*\\}.*)$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_exact() {
        assert_eq!(ByteSize::parse("700 MiB"), Some(ByteSize(700 << 20)));
        assert_eq!(ByteSize::parse("16KiB"), Some(ByteSize(16 << 10)));
        assert_eq!(ByteSize::parse("1.5 GB"), Some(ByteSize(1_500_000_000)));
        assert_eq!(ByteSize::parse("0.5 KiB"), Some(ByteSize(512)));
        assert_eq!(ByteSize::parse("512"), Some(ByteSize(512)));
    }

    #[test]
    fn a_fraction_of_a_byte_is_refused() {
        for text in ["", "MiB", "-1 MiB", "1.2345 KiB", "1 mib", "1.", "1 MiB 2", "99999999999 GiB", "1e3"] {
            assert_eq!(ByteSize::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_size_prints_in_the_largest_exact_unit() {
        assert_eq!(ByteSize(700 << 20).to_string(), "700 MiB");
        assert_eq!(ByteSize(1_000).to_string(), "1000 B");
        assert_eq!(ByteSize(0).to_string(), "0 B");
    }
}
