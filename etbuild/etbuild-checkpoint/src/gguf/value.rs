//! The values of GGUF's metadata.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::reader::{Mistake, Reader};

/// The metadata of a file, as JSON values by key.
#[derive(Debug, Default)]
pub struct Metadata(BTreeMap<String, Value>);

/// The type of a list, by the number in files.
const LIST: u32 = 9;
/// The type of a text.
const TEXT: u32 = 8;

/// Reads a value of a type.
type Read = fn(&mut Reader<'_>) -> Result<Value, Mistake>;

/// The types by their numbers, with the least bytes of a value.
const TYPES: &[(u32, usize, Read)] = &[
    (0, 1, |reader| Ok(u8::from_le_bytes(reader.array()?).into())),
    (1, 1, |reader| Ok(i8::from_le_bytes(reader.array()?).into())),
    (2, 2, |reader| Ok(u16::from_le_bytes(reader.array()?).into())),
    (3, 2, |reader| Ok(i16::from_le_bytes(reader.array()?).into())),
    (4, 4, |reader| Ok(u32::from_le_bytes(reader.array()?).into())),
    (5, 4, |reader| Ok(i32::from_le_bytes(reader.array()?).into())),
    (6, 4, |reader| Ok(decimal(f32::from_le_bytes(reader.array()?)))),
    (7, 1, |reader| Ok((u8::from_le_bytes(reader.array()?) != 0).into())),
    (TEXT, 8, |reader| Ok(reader.text()?.into())),
    (10, 8, |reader| Ok(u64::from_le_bytes(reader.array()?).into())),
    (11, 8, |reader| Ok(i64::from_le_bytes(reader.array()?).into())),
    (12, 8, |reader| Ok(number(f64::from_le_bytes(reader.array()?)))),
];

/// The number whose shortest decimal form is that of the `float32`: 1e-5 stays 1e-5.
pub fn decimal(real: f32) -> Value {
    real.to_string().parse().map_or(Value::Null, number)
}

fn number(real: f64) -> Value {
    Number::from_f64(real).map_or(Value::Null, Value::Number)
}

fn find(code: u32) -> Result<(usize, Read), Mistake> {
    let found = TYPES.iter().find(|(known, ..)| *known == code).map(|(_, least, read)| (*least, *read));
    found.ok_or_else(|| format!("its metadata has a value of the unknown type {code}"))
}

fn value(reader: &mut Reader<'_>) -> Result<Value, Mistake> {
    let code = reader.u32()?;
    if code != LIST {
        return find(code)?.1(reader);
    }
    let of = reader.u32()?;
    if of == LIST {
        return Err("its metadata has a list of lists".to_owned());
    }
    let (least, read) = find(of)?;
    let count = reader.list(least)?;
    (0..count).map(|_| read(reader)).collect::<Result<Vec<Value>, Mistake>>().map(Value::Array)
}

impl Metadata {
    /// Reads `count` keys and values.
    pub fn read(reader: &mut Reader<'_>, count: usize) -> Result<Self, Mistake> {
        let mut values = BTreeMap::new();
        for _ in 0..count {
            let key = reader.text()?;
            let value = value(reader).map_err(|mistake| format!("{mistake}, under `{key}`"))?;
            if values.contains_key(&key) {
                return Err(format!("its metadata has `{key}` twice"));
            }
            values.insert(key, value);
        }
        Ok(Self(values))
    }

    /// The keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// The text of a key.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// The natural number of a key.
    pub fn count(&self, key: &str) -> Option<u64> {
        self.get(key)?.as_u64()
    }

    /// The boolean of a key.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.get(key)?.as_bool()
    }

    /// The list of a key.
    pub fn list(&self, key: &str) -> Option<&[Value]> {
        self.get(key)?.as_array().map(Vec::as_slice)
    }
}
