//! The largest absolute error of an output.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer};

/// A finite difference, at least 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance(f64);

impl Tolerance {
    /// The default of recipes.
    pub const DEFAULT: Self = Self(1e-4);

    /// `value`, if finite and not negative.
    pub fn new(value: f64) -> Option<Self> {
        // Adding zero turns -0.0 into 0.0, so that equal tolerances have equal bits.
        (value.is_finite() && value >= 0.0).then_some(Self(value + 0.0))
    }

    /// The largest difference allowed.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl Eq for Tolerance {}

impl Hash for Tolerance {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl<'de> Deserialize<'de> for Tolerance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Self::new(value)
            .ok_or_else(|| de::Error::custom(format!("{value} is not a valid tolerance; write a number such as 1e-4")))
    }
}

impl JsonSchema for Tolerance {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Tolerance".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_is_finite_and_not_negative() {
        assert_eq!(Tolerance::new(1e-4), Some(Tolerance::DEFAULT));
        assert!([f64::NAN, f64::INFINITY, -1.0].iter().all(|value| Tolerance::new(*value).is_none()));
        assert_eq!(Tolerance::new(-0.0).map(|zero| zero.value().to_bits()), Some(0));
    }
}
