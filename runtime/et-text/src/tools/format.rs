//! A format of tool calls.

use et_llm::{Call, Text};

use super::sections::Section;
use super::tagged::Tags;
use super::tool::Tool;

/// How a model writes calls of tools.
#[derive(Debug)]
pub struct Format {
    /// Texts that the chat template has if the model writes this format.
    pub marks: &'static [&'static str],
    /// Texts of templates that have the marks for another format.
    pub without: &'static [&'static str],
    /// The texts before calls; of a format without such a text, the first characters of an answer that is calls.
    pub opens: &'static [&'static str],
    /// Whether calls are the whole answer, so that `opens` counts at the beginning alone, and is part of the calls.
    pub is_whole: bool,
    /// The text behind the calls; `None` for calls that end with the answer.
    pub close: Option<&'static str>,
    /// Further texts of the format that may be special tokens.
    pub inner: &'static [&'static str],
    /// Reads the text between `opens` and `close`.
    pub read: Read,
    /// How a grammar writes calls.
    pub body: Body,
}

/// Reads the calls in a text; `None` for a text that is no calls.
pub type Read = fn(&str, &[Tool]) -> Option<Vec<Call>>;

impl Format {
    /// Whether a chat template shows the format.
    pub fn is_of(&self, template: &str) -> bool {
        self.marks.iter().all(|mark| template.contains(mark))
            && !self.without.iter().any(|mark| template.contains(mark))
    }

    /// The special tokens that are texts of this format: decoders leave special tokens out.
    pub fn shown(&self, text: &dyn Text) -> Vec<(u32, &'static str)> {
        let names = self.opens.iter().chain(&self.close).chain(self.inner).copied();
        names.filter_map(|name| Some((text.special(name)?, name))).collect()
    }
}

/// How a grammar writes calls.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// An object in tags for each call.
    Tagged,
    /// A name and an object for each call, each behind the opening text.
    Named,
    /// A list of objects behind the opening text, with the keys of the name and of the arguments.
    List(&'static str, &'static str),
    /// Objects with `parameters`, and `; ` between them.
    Parameters,
    /// A list of calls as in Python.
    Pythonic,
    /// Calls as in Python, each on a line.
    Lines,
    /// A name and arguments in tags for each call.
    Arguments(&'static Tags),
    /// A name and an object in a section for each call.
    Sections(&'static Section),
    /// A name and arguments in Gemma's notation of values.
    Notation,
}
