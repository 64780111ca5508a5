//! A format of tool calls.

use et_llm::Text;

use super::call::Call;
use super::formats::FORMATS;
use super::grammar::Body;

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
    /// The format of a chat template; `None` for a template of another format.
    pub fn of(template: &str) -> Option<&'static Self> {
        FORMATS
            .iter()
            .find(|(format, without)| {
                template.contains(format.mark) && !without.iter().any(|other| template.contains(other))
            })
            .map(|(format, _)| format)
    }

    /// The special tokens that are texts of this format: decoders leave special tokens out.
    pub fn shown(&self, text: &dyn Text) -> Vec<(u32, &'static str)> {
        let names = self.opens.iter().chain(&self.close).copied().chain(["[ARGS]"]);
        names.filter_map(|name| Some((text.special(name)?, name))).collect()
    }
}
