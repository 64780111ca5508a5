//! The values that a key can hold.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Digest;

/// A value in a key. Two values are equal exactly when their canonical encodings are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Value {
    /// Not stated.
    Absent,
    /// Yes or no.
    Boolean(bool),
    /// An integer of any width.
    Integer(i128),
    /// The bits of an IEEE 754 double: zeros of different sign differ.
    Float(u64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A digest.
    Digest(Digest),
    /// Values in an order that matters.
    List(Vec<Value>),
    /// Values by name, in the order of the names.
    Map(BTreeMap<String, Value>),
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => formatter.write_str("none"),
            Self::Boolean(value) => value.fmt(formatter),
            Self::Integer(value) => value.fmt(formatter),
            Self::Float(bits) => write!(formatter, "{:?}", f64::from_bits(*bits)),
            Self::Text(text) => write!(formatter, "{text:?}"),
            Self::Bytes(bytes) => write!(formatter, "{} bytes {}", bytes.len(), Digest::of(bytes)),
            Self::Digest(digest) => digest.fmt(formatter),
            Self::List(values) => write_list(formatter, values),
            Self::Map(values) => write_map(formatter, values),
        }
    }
}

fn write_list(formatter: &mut fmt::Formatter<'_>, values: &[Value]) -> fmt::Result {
    let values: Vec<String> = values.iter().map(Value::to_string).collect();
    write!(formatter, "[{}]", values.join(", "))
}

fn write_map(formatter: &mut fmt::Formatter<'_>, values: &BTreeMap<String, Value>) -> fmt::Result {
    let values: Vec<String> = values.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    write!(formatter, "{{{}}}", values.join(", "))
}

macro_rules! from_integers {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Value {
            fn from(value: $integer) -> Self {
                Self::Integer(value as i128)
            }
        }
    )*};
}

from_integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<f32> for Value {
    fn from(value: f32) -> Self {
        f64::from(value).into()
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value.to_bits())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Digest> for Value {
    fn from(digest: Digest) -> Self {
        Self::Digest(digest)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>> From<BTreeMap<String, T>> for Value {
    fn from(values: BTreeMap<String, T>) -> Self {
        Self::Map(values.into_iter().map(|(name, value)| (name, value.into())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_of_an_integer_is_no_difference() {
        assert_eq!(Value::from(5u8), Value::from(5i64));
        assert_ne!(Value::from(-1i8), Value::from(u64::MAX));
    }

    #[test]
    fn values_print_for_a_person() {
        let map = BTreeMap::from([("a".to_owned(), vec![1, 2]), ("b".to_owned(), vec![])]);
        assert_eq!(Value::from(map).to_string(), "{a: [1, 2], b: []}");
        assert_eq!(Value::from("x y").to_string(), "\"x y\"");
        assert_eq!(Value::from(Some(0.5f32)).to_string(), "0.5");
        assert_eq!(Value::from(None::<bool>).to_string(), "none");
    }
}
