//! Names in printed programs: words, or quoted text.

use std::fmt::{self, Write as _};

use crate::MemoryFormat;

/// A name, quoted unless the name is a word.
pub struct Name<'a>(pub &'a str);

/// Text in quotes, with `"`, `\` and control characters escaped.
pub struct Quoted<'a>(pub &'a str);

/// Whether a word may contain `character`.
pub const fn is_word_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | '-')
}

/// The words for memory formats.
pub const MEMORY_FORMATS: [(MemoryFormat, &str); 3] = [
    (MemoryFormat::Contiguous, "contiguous"),
    (MemoryFormat::ChannelsLast, "channels_last"),
    (MemoryFormat::Preserve, "preserve"),
];

impl fmt::Display for Name<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.is_empty() && self.0.chars().all(is_word_character) {
            return formatter.write_str(self.0);
        }
        Quoted(self.0).fmt(formatter)
    }
}

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(formatter, "\\{character}")?,
                control if control.is_control() => write!(formatter, "\\u{{{:x}}}", u32::from(control))?,
                plain => formatter.write_char(plain)?,
            }
        }
        formatter.write_char('"')
    }
}
