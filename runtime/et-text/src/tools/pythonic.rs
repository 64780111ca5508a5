//! Calls in Python's syntax: `[f(a=1, b="x"), g()]`.

use et_llm::Call;
use serde_json::{Map, Value};

/// Reads a list of calls whose arguments are literals of Python or JSON.
pub fn pythonic_calls(text: &str) -> Option<Vec<Call>> {
    let mut rest = Rest(text.trim());
    rest.take("[")?;
    let calls = rest.list("]", call)?;
    (rest.0.is_empty() && !calls.is_empty()).then_some(calls)
}

/// Reads calls in Python's syntax, each on a line.
pub fn calls_on_lines(text: &str) -> Option<Vec<Call>> {
    let (mut calls, mut rest) = (Vec::new(), Rest(text.trim()));
    while !rest.0.is_empty() {
        calls.push(call(&mut rest)?);
    }
    (!calls.is_empty()).then_some(calls)
}

fn call(rest: &mut Rest<'_>) -> Option<Call> {
    let name = rest.name()?.to_owned();
    rest.take("(")?;
    let pairs = rest.list(")", |rest| {
        let name = rest.key()?.to_owned();
        Some((name, rest.literal(MOST_DEPTH)?))
    })?;
    Some(Call { name, arguments: Value::Object(pairs.into_iter().collect()).to_string() })
}

/// The most lists and dictionaries within each other.
const MOST_DEPTH: usize = 64;

/// The words of Python and of JSON.
const WORDS: &[(&str, Value)] = &[
    ("True", Value::Bool(true)),
    ("true", Value::Bool(true)),
    ("False", Value::Bool(false)),
    ("false", Value::Bool(false)),
    ("None", Value::Null),
    ("null", Value::Null),
];

/// The text that was not read.
struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    /// Takes a text, and white space before and behind it.
    fn take(&mut self, text: &str) -> Option<()> {
        self.0 = self.0.trim_start().strip_prefix(text)?.trim_start();
        Some(())
    }

    /// Takes a name, which may have dots.
    fn name(&mut self) -> Option<&'t str> {
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '-');
        let end = self.0.find(|letter| !is_part(letter)).unwrap_or(self.0.len());
        let (name, rest) = self.0.split_at(end);
        self.0 = rest;
        (!name.is_empty()).then_some(name)
    }

    /// Takes the name of an argument and the sign behind. Names of schemas may be other texts than names in Python.
    fn key(&mut self) -> Option<&'t str> {
        let (name, rest) = self.0.split_once('=')?;
        self.0 = rest.trim_start();
        Some(name.trim()).filter(|name| !name.is_empty())
    }

    /// Takes items with commas between them, and the end.
    fn list<T>(&mut self, end: &str, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        while self.take(end).is_none() {
            if !items.is_empty() {
                self.take(",")?;
                if self.take(end).is_some() {
                    break;
                }
            }
            items.push(item(self)?);
        }
        Some(items)
    }

    fn literal(&mut self, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        match self.0.chars().next()? {
            quote @ ('"' | '\'') => self.quoted(quote).map(Value::String),
            '[' => {
                self.take("[")?;
                self.list("]", |rest| rest.literal(depth)).map(Value::Array)
            }
            '{' => {
                self.take("{")?;
                let pairs = self.list("}", |rest| {
                    let Value::String(key) = rest.literal(depth)? else { return None };
                    rest.take(":")?;
                    Some((key, rest.literal(depth)?))
                })?;
                Some(Value::Object(pairs.into_iter().collect::<Map<_, _>>()))
            }
            _ => self.word(),
        }
    }

    /// Takes a number or a word.
    fn word(&mut self) -> Option<Value> {
        let end = self.0.find([',', ')', ']', '}', ' ', '\n']).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        let known = WORDS.iter().find(|(known, _)| *known == word).map(|(_, value)| value.clone());
        known.or_else(|| serde_json::from_str(word).ok().filter(Value::is_number))
    }

    /// Takes a text in quotes, with the escapes that Python and JSON share.
    fn quoted(&mut self, quote: char) -> Option<String> {
        let (mut text, mut letters) = (String::new(), self.0.char_indices().skip(1));
        while let Some((index, letter)) = letters.next() {
            match letter {
                letter if letter == quote => {
                    self.0 = self.0.get(index + quote.len_utf8()..)?;
                    return Some(text);
                }
                '\\' => text.push(match letters.next()?.1 {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'u' => unicode(&mut letters)?,
                    other => other,
                }),
                other => text.push(other),
            }
        }
        None
    }
}

/// The character behind `\\u`: four digits, or two times four for a character beyond 16 bits.
fn unicode(letters: &mut impl Iterator<Item = (usize, char)>) -> Option<char> {
    let mut unit = |skipped: &str| {
        letters.by_ref().take(skipped.len()).map(|(_, letter)| letter).eq(skipped.chars()).then_some(())?;
        let digits: String = letters.by_ref().take(4).map(|(_, digit)| digit).collect();
        u16::from_str_radix(&digits, 16).ok()
    };
    let first = unit("")?;
    let is_half = (0xd800..0xdc00).contains(&first);
    let second = if is_half { Some(unit("\\u")?) } else { None };
    char::decode_utf16([first].into_iter().chain(second)).next()?.ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_literals() {
        let text =
            r#"[weather.now(city="Bo\"n\u00e9", days = 3, exact=True, unit=None), sum(of=[1, -2.5, {'a': 'b'}])]"#;
        let calls = pythonic_calls(text).unwrap();
        assert_eq!((calls[0].name.as_str(), calls[1].name.as_str()), ("weather.now", "sum"));
        assert_eq!(calls[0].arguments, json!({ "city": "Bo\"né", "days": 3, "exact": true, "unit": null }).to_string());
        assert_eq!(calls[1].arguments, json!({ "of": [1, -2.5, { "a": "b" }] }).to_string());
        assert_eq!(pythonic_calls("[f()]").unwrap()[0].arguments, "{}");
        let odd = pythonic_calls(r#"[f($filter="\ud83d\ude00", a b=1, xml:lang='x')]"#).unwrap();
        assert_eq!(odd[0].arguments, json!({ "$filter": "\u{1f600}", "a b": 1, "xml:lang": "x" }).to_string());
    }

    #[test]
    fn calls_may_stand_on_lines() {
        let calls = calls_on_lines("\nf(a=1)\ng(b=[\n\"x\"])\n").unwrap();
        assert_eq!(
            calls.iter().map(|call| call.arguments.as_str()).collect::<Vec<_>>(),
            [r#"{"a":1}"#, r#"{"b":["x"]}"#]
        );
        assert!(calls_on_lines("f(a=1) and").is_none() && calls_on_lines("").is_none());
    }

    #[test]
    fn other_texts_are_no_calls() {
        let deep = format!("[f(a={}1{})]", "[".repeat(100_000), "]".repeat(100_000));
        for text in
            ["", "[]", "[1, 2]", "f()", "[f(]", "[f(1)]", "[f(a=)]", "[f(a=x)]", "[f(a='b)]", "[f()] and", &deep]
        {
            assert_eq!(pythonic_calls(text), None, "{text:.40}");
        }
    }
}
