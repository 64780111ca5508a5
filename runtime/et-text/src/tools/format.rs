//! A format of tool calls.

use et_llm::{Call, Text};

/// How a model writes calls of tools.
#[derive(Debug)]
pub struct Format {
    /// A text that the chat template has if the model writes this format.
    pub mark: &'static str,
    /// The texts before calls; of a format without such a text, the first characters of an answer that is calls.
    pub opens: &'static [&'static str],
    /// Whether calls are the whole answer, so that `opens` counts at the beginning alone, and is part of the calls.
    pub is_whole: bool,
    /// The text behind the calls; `None` for calls that end with the answer.
    pub close: Option<&'static str>,
    /// Reads the text between both.
    pub read: fn(&str) -> Option<Vec<Call>>,
    /// How a grammar writes calls.
    pub body: Body,
}

impl Format {
    /// The special tokens that are texts of this format: decoders leave special tokens out.
    pub fn shown(&self, text: &dyn Text) -> Vec<(u32, &'static str)> {
        let names = self.opens.iter().chain(&self.close).copied().chain(["[ARGS]"]);
        names.filter_map(|name| Some((text.special(name)?, name))).collect()
    }
}

/// How a grammar writes calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// An object in tags for each call.
    Tagged,
    /// A name and an object for each call, each behind the opening text.
    Named,
    /// A list of objects behind the opening text.
    List,
    /// Objects with `parameters`, and `; ` between them.
    Parameters,
    /// A list of calls as in Python.
    Pythonic,
}
