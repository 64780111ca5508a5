//! `config.json` and similar files: values by key, with messages for missing keys and wrong types.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::{Map, Value};

use crate::{CONFIG, CheckpointError};

/// Sizes beyond this are mistakes: products of three sizes still fit 64 bits.
const LARGEST: u64 = 1 << 20;

/// The key of a map that stands for a number which JSON lacks, as `transformers` 5 writes such numbers.
pub const NOT_IN_JSON: &str = "__float__";

/// A file of Python's `json`, which writes infinite numbers by names, in JSON.
fn in_json(bytes: &[u8]) -> Cow<'_, [u8]> {
    const NAME: &[u8] = b"Infinity";
    if !bytes.windows(NAME.len()).any(|window| window == NAME) {
        return Cow::Borrowed(bytes);
    }
    let (mut made, mut rest, mut is_text) = (Vec::new(), bytes, false);
    while let Some((byte, behind)) = rest.split_first() {
        rest = match byte {
            b'I' if !is_text && rest.starts_with(NAME) => {
                made.extend_from_slice(format!("{{\"{NOT_IN_JSON}\":\"Infinity\"}}").as_bytes());
                rest.get(NAME.len()..).unwrap_or_default()
            }
            b'\\' if is_text => {
                made.extend(rest.iter().take(2));
                rest.get(2..).unwrap_or_default()
            }
            _ => {
                is_text ^= *byte == b'"';
                made.push(*byte);
                behind
            }
        };
    }
    Cow::Owned(made)
}

/// A map of the configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file's name.
    file: &'static str,
    /// The prefix of the keys in messages.
    path: String,
    map: Map<String, Value>,
    /// The keys of the family, by the common key.
    keys: Keys,
    /// The keys that something has asked for, with their paths. Maps within the configuration share the set.
    asked: Rc<RefCell<BTreeSet<String>>>,
}

/// The keys of a family whose configuration names common facts otherwise: the common key and the family's key.
pub type Keys = &'static [(&'static str, &'static str)];

impl Config {
    /// Reads the configuration of a model.
    pub fn parse(bytes: &[u8]) -> Result<Self, CheckpointError> {
        Self::parse_file(CONFIG, bytes)
    }

    /// Reads a file of this name.
    pub fn parse_file(file: &'static str, bytes: &[u8]) -> Result<Self, CheckpointError> {
        let malformed = |reason: String| CheckpointError::Json { file, reason };
        match serde_json::from_slice(&in_json(bytes)).map_err(|error| malformed(error.to_string()))? {
            Value::Object(map) => Ok(Self { file, path: String::new(), map, keys: &[], asked: Rc::default() }),
            _ => Err(malformed("it is no map".to_owned())),
        }
    }

    /// The same configuration, read by the keys of a family.
    pub fn with_keys(self, keys: Keys) -> Self {
        Self { keys, ..self }
    }

    /// The same configuration with values for absent keys.
    pub fn with_defaults<'k>(mut self, defaults: impl IntoIterator<Item = (&'k str, Value)>) -> Self {
        for (key, value) in defaults {
            if self.map.get(key).is_none_or(Value::is_null) {
                self.map.insert(key.to_owned(), value);
            }
        }
        self
    }

    /// The same configuration with another value of a key.
    pub fn with_value(&self, key: &str, value: Value) -> Self {
        let mut config = self.clone();
        config.map.insert(self.key(key).to_owned(), value);
        config
    }

    /// The key in the file.
    fn key<'k>(&self, key: &'k str) -> &'k str {
        self.keys.iter().find(|(common, _)| *common == key).map_or(key, |(_, own)| own)
    }

    /// The class of the model: the first of `architectures`.
    pub fn architecture(&self) -> Result<String, CheckpointError> {
        let first = self.map.get("architectures").and_then(|list| list.get(0)).and_then(Value::as_str);
        first.map(str::to_owned).ok_or_else(|| CheckpointError::key("architectures", "does not name a class"))
    }

    /// The keys with a value other than null, false, or empty.
    pub fn telling(&self) -> impl Iterator<Item = &str> {
        let is_telling = |value: &Value| match value {
            Value::Null => false,
            Value::Bool(flag) => *flag,
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(map) => !map.is_empty(),
            Value::Number(_) => true,
        };
        self.map.iter().filter(move |(_, value)| is_telling(value)).map(|(key, _)| key.as_str())
    }

    /// Whether something has asked for the key, or for the key of a family by the common key.
    pub fn was_asked(&self, key: &str) -> bool {
        self.asked.borrow().contains(&format!("{}{key}", self.path))
    }

    /// The keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.map.keys().map(String::as_str)
    }

    /// The keys with the values.
    pub fn entries(&self) -> impl Iterator<Item = (String, Value)> + '_ {
        self.map.iter().map(|(key, value)| (key.clone(), value.clone()))
    }

    /// The value of a key, if present.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.get(key)
    }

    /// The value of a key; `None` where the key is absent or null.
    fn get(&self, key: &str) -> Option<&Value> {
        self.asked.borrow_mut().insert(format!("{}{}", self.path, self.key(key)));
        self.map.get(self.key(key)).filter(|value| !value.is_null())
    }

    /// The error for a key.
    pub fn mistake(&self, key: &str, reason: impl Into<String>) -> CheckpointError {
        CheckpointError::Key { file: self.file, key: format!("{}{}", self.path, self.key(key)), reason: reason.into() }
    }

    /// The error for a value that means a model beyond what `supported` says.
    pub fn unsupported(&self, key: &str, supported: impl Into<String>) -> CheckpointError {
        let value = self.get(key).map_or_else(|| "null".to_owned(), Value::to_string);
        let key = format!("{}{}", self.path, self.key(key));
        CheckpointError::Unsupported { file: self.file, key, value, supported: supported.into() }
    }

    /// Refuses a flag that is set.
    pub fn refuse(&self, key: &str) -> Result<(), CheckpointError> {
        if self.flag(key)? { Err(self.unsupported(key, "`false`")) } else { Ok(()) }
    }

    /// Refuses weights that another tool quantized.
    pub fn refuse_quantized(&self) -> Result<(), CheckpointError> {
        let key = ["quantization_config", "quantization"].into_iter().find(|key| self.get(key).is_some());
        key.map_or(Ok(()), |key| Err(self.unsupported(key, "no quantized weights in an encoder")))
    }

    /// Reads a value, if present.
    fn read<T>(
        &self,
        key: &str,
        kind: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, CheckpointError> {
        let wrong = || self.mistake(key, format!("is not {kind}"));
        self.get(key).map(|value| read(value).ok_or_else(wrong)).transpose()
    }

    /// The value of a key by `read`, or the default of the class in `transformers` for an absent key. Null is a value.
    pub fn or_default<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Self, &str) -> Result<Option<T>, CheckpointError>,
        default: impl Into<Option<T>>,
    ) -> Result<Option<T>, CheckpointError> {
        if self.map.contains_key(self.key(key)) { read(self, key) } else { Ok(default.into()) }
    }

    /// A size: a positive integer, if present.
    pub fn optional_size(&self, key: &str) -> Result<Option<usize>, CheckpointError> {
        let size = |value: &Value| value.as_u64().filter(|size| (1..=LARGEST).contains(size)).map(|size| size as usize);
        self.read(key, "a size from 1 to 1048576", size)
    }

    /// A size: a positive integer.
    pub fn size(&self, key: &str) -> Result<usize, CheckpointError> {
        self.optional_size(key)?.ok_or_else(|| self.mistake(key, "is missing"))
    }

    /// A size that is computed from the value of `key`; `None` beyond the integers.
    pub fn computed(&self, key: &str, size: Option<usize>) -> Result<usize, CheckpointError> {
        let fits = size.filter(|size| (1..=LARGEST).contains(&(*size as u64)));
        fits.ok_or_else(|| self.mistake(key, "makes a size that is not from 1 to 1048576"))
    }

    /// A count, which may be 0, if present.
    pub fn optional_count(&self, key: &str) -> Result<Option<usize>, CheckpointError> {
        let count = |value: &Value| value.as_u64().filter(|count| *count <= LARGEST).map(|count| count as usize);
        self.read(key, "a count", count)
    }

    /// A number of tokens, if present: models state more than their limit.
    pub fn optional_tokens(&self, key: &str) -> Result<Option<usize>, CheckpointError> {
        self.unlimited(key, "a number of tokens")
    }

    /// A number of pixels, if present: image processors state more than programs have room for.
    pub fn optional_pixels(&self, key: &str) -> Result<Option<usize>, CheckpointError> {
        self.unlimited(key, "a number of pixels")
    }

    /// A positive integer, if present.
    fn unlimited(&self, key: &str, what: &'static str) -> Result<Option<usize>, CheckpointError> {
        let count = self.read(key, what, |value| value.as_u64().filter(|count| *count > 0))?;
        Ok(count.map(|count| usize::try_from(count).unwrap_or(usize::MAX)))
    }

    /// A positive number, if present.
    pub fn optional_number(&self, key: &str) -> Result<Option<f64>, CheckpointError> {
        let number = |value: &Value| value.as_f64().filter(|number| number.is_finite() && *number > 0.0);
        self.read(key, "a positive number", number)
    }

    /// A number of at least 0, if present.
    pub fn optional_amount(&self, key: &str) -> Result<Option<f64>, CheckpointError> {
        let amount = |value: &Value| value.as_f64().filter(|amount| amount.is_finite() && *amount >= 0.0);
        self.read(key, "a number of at least 0", amount)
    }

    /// A positive number.
    pub fn number(&self, key: &str) -> Result<f64, CheckpointError> {
        self.optional_number(key)?.ok_or_else(|| self.mistake(key, "is missing"))
    }

    /// Positive numbers.
    pub fn numbers(&self, key: &str) -> Result<Vec<f64>, CheckpointError> {
        let number = |value: &Value| value.as_f64().filter(|number| number.is_finite() && *number > 0.0);
        let list = |value: &Value| value.as_array()?.iter().map(number).collect();
        self.read(key, "a list of positive numbers", list)?.ok_or_else(|| self.mistake(key, "is missing"))
    }

    /// Numbers from 0 to less than 1, if present.
    pub fn optional_shares(&self, key: &str) -> Result<Option<Vec<f64>>, CheckpointError> {
        let share = |value: &Value| value.as_f64().filter(|share| (0.0..1.0).contains(share));
        self.read(key, "a list of shares", |value| value.as_array()?.iter().map(share).collect())
    }

    /// A boolean, false if absent.
    pub fn flag(&self, key: &str) -> Result<bool, CheckpointError> {
        Ok(self.optional_flag(key)?.unwrap_or(false))
    }

    /// A boolean, or the default of the class for an absent key.
    pub fn flag_or(&self, key: &str, default: bool) -> Result<bool, CheckpointError> {
        Ok(self.optional_flag(key)?.unwrap_or(default))
    }

    /// A boolean, if present.
    pub fn optional_flag(&self, key: &str) -> Result<Option<bool>, CheckpointError> {
        self.read(key, "a boolean", Value::as_bool)
    }

    /// A text, if present.
    pub fn optional_text(&self, key: &str) -> Result<Option<String>, CheckpointError> {
        self.read(key, "a text", |value| value.as_str().map(str::to_owned))
    }

    /// Flags of layers as numbers, if present.
    pub fn optional_switches(&self, key: &str) -> Result<Option<Vec<bool>>, CheckpointError> {
        let list = |value: &Value| value.as_array()?.iter().map(|item| Some(item.as_u64()? != 0)).collect();
        self.read(key, "a list of zeros and ones", list)
    }

    /// Counts, if present.
    pub fn optional_counts(&self, key: &str) -> Result<Option<Vec<usize>>, CheckpointError> {
        let count = |value: &Value| value.as_u64().and_then(|count| usize::try_from(count).ok());
        self.read(key, "a list of counts", |value| value.as_array()?.iter().map(count).collect())
    }

    /// Texts, if present.
    pub fn optional_texts(&self, key: &str) -> Result<Option<Vec<String>>, CheckpointError> {
        let list = |value: &Value| value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect();
        self.read(key, "a list of texts", list)
    }

    /// The map under a key, if present.
    pub fn optional_map(&self, key: &str) -> Result<Option<Self>, CheckpointError> {
        let map = self.read(key, "a map", |value| value.as_object().cloned())?;
        Ok(map.map(|map| Self {
            path: format!("{}{}.", self.path, self.key(key)),
            map,
            keys: &[],
            asked: self.asked.clone(),
            file: self.file,
        }))
    }
}
