//! The part of JSON that headers have: objects, strings, and lists of natural numbers. The parser does not recurse.

use super::Error;

/// A position in a header.
pub(super) struct Parser<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Parser<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, position: 0 }
    }

    /// Reads an object: calls `entry` at each value, with the key.
    pub(super) fn object(
        &mut self,
        mut entry: impl FnMut(&mut Self, String) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.expect('{', "{")?;
        if self.accept('}') {
            return Ok(());
        }
        loop {
            let key = self.string()?;
            self.expect(':', ":")?;
            entry(self, key)?;
            if !self.accept(',') {
                return self.expect('}', ", or }");
            }
        }
    }

    /// Skips a `null`, if that is next.
    pub(super) fn accept_null(&mut self) -> bool {
        const NULL: &str = "null";
        self.skip_space();
        let is_null = self.rest().starts_with(NULL);
        self.position += if is_null { NULL.len() } else { 0 };
        is_null
    }

    /// Reads a list of natural numbers.
    pub(super) fn numbers(&mut self) -> Result<Vec<usize>, Error> {
        self.expect('[', "[")?;
        let mut numbers = Vec::new();
        if self.accept(']') {
            return Ok(numbers);
        }
        loop {
            numbers.push(self.number()?);
            if !self.accept(',') {
                self.expect(']', ", or ]")?;
                return Ok(numbers);
            }
        }
    }

    /// Reads a string.
    pub(super) fn string(&mut self) -> Result<String, Error> {
        self.expect('"', "a string")?;
        let mut string = String::new();
        loop {
            match self.next().ok_or(self.error("\""))? {
                '"' => return Ok(string),
                '\\' => string.push(self.escape()?),
                character if character < ' ' => return Err(self.error("no control character")),
                character => string.push(character),
            }
        }
    }

    /// Checks that only white space follows.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        self.skip_space();
        if self.rest().is_empty() { Ok(()) } else { Err(self.error("the end of the header")) }
    }

    fn number(&mut self) -> Result<usize, Error> {
        self.skip_space();
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = rest.get(..digits).and_then(|digits| digits.parse().ok());
        let number = number.ok_or(self.error("a natural number"))?;
        self.position += digits;
        Ok(number)
    }

    /// The character that an escape sequence behind a backslash stands for.
    fn escape(&mut self) -> Result<char, Error> {
        match self.next() {
            Some(character @ ('"' | '\\' | '/')) => Ok(character),
            Some('b') => Ok('\u{8}'),
            Some('f') => Ok('\u{c}'),
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some('u') => self.unicode_escape(),
            _ => Err(self.error("an escape sequence")),
        }
    }

    fn unicode_escape(&mut self) -> Result<char, Error> {
        let high = self.code_unit()?;
        if !(0xd800..0xdc00).contains(&high) {
            return char::from_u32(high).ok_or(self.error("a Unicode character"));
        }
        let is_pair = self.next() == Some('\\') && self.next() == Some('u');
        let low = if is_pair { self.code_unit()? } else { 0 };
        if !(0xdc00..0xe000).contains(&low) {
            return Err(self.error("the second half of a surrogate pair"));
        }
        char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)).ok_or(self.error("a Unicode character"))
    }

    /// Four hexadecimal digits.
    fn code_unit(&mut self) -> Result<u32, Error> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.next().and_then(|digit| digit.to_digit(16));
            unit = unit << 4 | digit.ok_or(self.error("four hexadecimal digits"))?;
        }
        Ok(unit)
    }

    fn expect(&mut self, character: char, expected: &'static str) -> Result<(), Error> {
        if self.accept(character) { Ok(()) } else { Err(self.error(expected)) }
    }

    fn accept(&mut self, character: char) -> bool {
        self.skip_space();
        let accepted = self.rest().starts_with(character);
        if accepted {
            self.position += character.len_utf8();
        }
        accepted
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn next(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.position += character.len_utf8();
        Some(character)
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    /// The token that the parser expected.
    pub(super) const fn error(&self, expected: &'static str) -> Error {
        Error::Header { position: self.position, expected }
    }
}

/// A text as a string of JSON, with the quotes.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control < ' ' => quoted += &format!("\\u{:04x}", u32::from(control)),
            other => quoted.push(other),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved() {
        let text = r#""a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#;
        assert_eq!(Parser::new(text).string().unwrap(), "a\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600}");
    }

    #[test]
    fn malformed_strings_are_errors() {
        for text in ["", "\"", "\"\\", "\"\\x\"", "\"\\u12", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\n\""] {
            assert!(Parser::new(text).string().is_err(), "{text}");
        }
    }

    #[test]
    fn malformed_lists_are_errors() {
        for text in ["", "[", "[1", "[1,", "[1,]", "[-1]", "[1.5]", "[99999999999999999999999]"] {
            assert!(Parser::new(text).numbers().is_err(), "{text}");
        }
        assert_eq!(Parser::new(" [ 1 , 23 ] ").numbers(), Ok(vec![1, 23]));
    }

    #[test]
    fn quotes_and_control_characters_are_escaped() {
        assert_eq!(quoted("a\"b\\c\nd\u{e9}"), r#""a\"b\\c\u000adé""#);
    }
}
