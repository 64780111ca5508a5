//! JSON in the format of Python's `json.dumps`, for the filter `tojson` of chat templates.

use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Error, ErrorKind, Value};

/// The options of the filter in `transformers`. Text is written in UTF-8, without `\u` escapes.
pub struct Style {
    /// The indentation of a level; `None` for a single line.
    indent: Option<String>,
    between_items: String,
    behind_keys: String,
    sort_keys: bool,
}

impl Style {
    /// Reads `indent`, `separators` and `sort_keys`.
    ///
    /// # Errors
    /// For another option, or a value of another type.
    pub fn read(options: &Kwargs) -> Result<Self, Error> {
        let indent: Option<usize> = options.get("indent")?;
        let separators: Option<Vec<String>> = options.get("separators")?;
        let sort_keys: Option<bool> = options.get("sort_keys")?;
        let _: Option<bool> = options.get("ensure_ascii")?;
        options.assert_all_used()?;
        let comma = if indent.is_some() { "," } else { ", " };
        let (between_items, behind_keys) = match separators.as_deref() {
            Some([items, keys]) => (items.clone(), keys.clone()),
            Some(_) => return Err(Error::new(ErrorKind::InvalidOperation, "tojson takes two separators")),
            None => (comma.to_owned(), ": ".to_owned()),
        };
        let indent = indent.map(|width| " ".repeat(width.min(16)));
        Ok(Self { indent, between_items, behind_keys, sort_keys: sort_keys.unwrap_or(false) })
    }

    /// The JSON text of a value.
    ///
    /// # Errors
    /// A value without a JSON form, such as an undefined value.
    pub fn write(&self, value: &Value) -> Result<String, Error> {
        let mut text = String::new();
        self.append(value, 0, &mut text)?;
        Ok(text)
    }

    fn append(&self, value: &Value, depth: usize, text: &mut String) -> Result<(), Error> {
        match value.kind() {
            ValueKind::Map => {
                let mut keys: Vec<Value> = value.try_iter()?.collect();
                if self.sort_keys {
                    keys.sort();
                }
                self.append_all("{", "}", keys, depth, text, |key, text| {
                    text.push_str(&leaf(&Value::from(key.to_string()))?);
                    text.push_str(&self.behind_keys);
                    self.append(&value.get_item(key)?, depth + 1, text)
                })
            }
            ValueKind::Seq | ValueKind::Iterable => {
                let items = value.try_iter()?.collect();
                self.append_all("[", "]", items, depth, text, |item, text| self.append(item, depth + 1, text))
            }
            _ => {
                text.push_str(&leaf(value)?);
                Ok(())
            }
        }
    }

    fn append_all(
        &self,
        open: &str,
        close: &str,
        items: Vec<Value>,
        depth: usize,
        text: &mut String,
        append: impl Fn(&Value, &mut String) -> Result<(), Error>,
    ) -> Result<(), Error> {
        text.push_str(open);
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                text.push_str(&self.between_items);
            }
            self.new_line(depth + 1, text);
            append(item, text)?;
        }
        if !items.is_empty() {
            self.new_line(depth, text);
        }
        text.push_str(close);
        Ok(())
    }

    fn new_line(&self, depth: usize, text: &mut String) {
        if let Some(indent) = &self.indent {
            text.push('\n');
            text.extend(std::iter::repeat_n(indent.as_str(), depth));
        }
    }
}

/// A scalar or null.
fn leaf(value: &Value) -> Result<String, Error> {
    if value.is_undefined() {
        return Err(Error::new(ErrorKind::UndefinedError, "JSON has no undefined value"));
    }
    serde_json::to_string(value).map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))
}
