//! Fixed values of recipes in keys, where a value differs from a list of one value.

use etbuild_recipe::{FixedScalar, FixedValue};
use etbuild_store::Value;

/// The value in a key.
pub fn in_key(value: &FixedValue) -> Value {
    match value {
        FixedValue::Scalar(value) => scalar(value),
        FixedValue::List(values) => Value::List(values.iter().map(scalar).collect()),
    }
}

fn scalar(value: &FixedScalar) -> Value {
    match value {
        FixedScalar::Bool(value) => (*value).into(),
        FixedScalar::Int(value) => (*value).into(),
        FixedScalar::Float(value) => value.0.into(),
        FixedScalar::Text(value) => value.into(),
    }
}
