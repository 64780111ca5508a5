//! Gemma's notation of calls: `call:f{a:<|"|>x<|"|>,b:[1,true]}`.

use et_llm::Call;
use serde_json::{Deserializer, Map, Value};

/// The text around texts.
pub const QUOTE: &str = "<|\"|>";

/// The most lists and objects within each other.
const MOST_DEPTH: usize = 64;

/// Reads a call.
pub fn notation_calls(text: &str) -> Option<Vec<Call>> {
    let (name, _) = text.trim().strip_prefix("call:")?.split_once('{')?;
    let mut rest = Rest(text.trim().strip_prefix("call:")?.strip_prefix(name)?);
    let arguments = rest.value(MOST_DEPTH)?;
    rest.0.is_empty().then(|| vec![Call { name: name.trim().to_owned(), arguments: arguments.to_string() }])
}

/// The text that was not read.
struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    /// Takes a text, and white space before and behind it.
    fn take(&mut self, text: &str) -> Option<()> {
        self.0 = self.0.trim_start().strip_prefix(text)?.trim_start();
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        if self.take("{").is_some() {
            return self.object(depth);
        }
        if self.take("[").is_some() {
            return self.list(depth);
        }
        if self.0.starts_with(QUOTE) {
            return self.quoted().map(|text| Value::String(text.to_owned()));
        }
        if self.0.starts_with('"') {
            return self.json_text().map(Value::String);
        }
        let end = self.0.find([',', ']', '}']).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        serde_json::from_str(word.trim()).ok()
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        while self.take("]").is_none() {
            if !items.is_empty() {
                self.take(",")?;
            }
            items.push(self.value(depth)?);
        }
        Some(Value::Array(items))
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        let mut fields = Map::new();
        while self.take("}").is_none() {
            if !fields.is_empty() {
                self.take(",")?;
            }
            let key = match () {
                () if self.0.starts_with(QUOTE) => self.quoted()?.to_owned(),
                () if self.0.starts_with('"') => self.json_text()?,
                () => self.key()?.trim().to_owned(),
            };
            self.take(":")?;
            fields.insert(key, self.value(depth)?);
        }
        Some(Value::Object(fields))
    }

    fn key(&mut self) -> Option<&'t str> {
        let (key, rest) = self.0.split_at(self.0.find(':')?);
        self.0 = rest;
        Some(key)
    }

    /// Takes a text in the quotes of JSON, which models write where the schema names no type.
    fn json_text(&mut self) -> Option<String> {
        let mut values = Deserializer::from_str(self.0).into_iter::<String>();
        let text = values.next()?.ok()?;
        self.0 = self.0.get(values.byte_offset()..)?;
        Some(text)
    }

    fn quoted(&mut self) -> Option<&'t str> {
        let (text, rest) = self.0.strip_prefix(QUOTE)?.split_once(QUOTE)?;
        self.0 = rest;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_texts_words_lists_and_objects() {
        let text = "call:f{a:<|\"|>x, {y}<|\"|>,b:[1,-2.5,true],c:{<|\"|>d<|\"|>:null},e:[],f:{}}";
        let call = notation_calls(text).unwrap().remove(0);
        let wanted = r#"{"a":"x, {y}","b":[1,-2.5,true],"c":{"d":null},"e":[],"f":{}}"#;
        assert_eq!((call.name.as_str(), call.arguments.as_str()), ("f", wanted));
        assert_eq!(notation_calls("call:g{}").unwrap()[0].arguments, "{}");
        let json = "call:f{a:\"x, }\", b: {\"c\": [\"y\"]}}";
        assert_eq!(notation_calls(json).unwrap()[0].arguments, r#"{"a":"x, }","b":{"c":["y"]}}"#);
    }

    #[test]
    fn other_texts_are_no_calls() {
        let deep = format!("call:f{{a:{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        for text in ["", "f{}", "call:f", "call:f{a}", "call:f{a:x}", "call:f{a:<|\"|>x}", "call:f{} and", &deep] {
            assert_eq!(notation_calls(text), None, "{text:.40}");
        }
    }
}
