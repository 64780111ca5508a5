//! Reads thoughts, text and tool calls from an answer that comes in pieces.

use et_llm::{Certain, Stops};

use super::call::Call;
use super::format::Format;
use super::thinking::{Split, Thinking};

/// A part of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// Thoughts.
    Reasoning(String),
    /// A call of a tool.
    Call(Call),
}

/// Reads an answer.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    /// A text before the answer.
    before: Option<String>,
    thinking: Option<Thinking>,
    calls: Option<Calls>,
}

impl Reader {
    /// A reader of an answer with thoughts, and with calls of tools with these names in a format.
    pub fn new(thinking: Option<Thinking>, calls: Option<(&'static Format, Vec<String>)>) -> Self {
        Self { before: None, thinking, calls: calls.map(|(format, names)| Calls::new(format, names)) }
    }

    /// A reader of an answer that begins with a text.
    pub fn behind(text: String) -> Self {
        Self { before: Some(text), ..Self::default() }
    }

    /// A further piece of text.
    pub fn push(&mut self, piece: &str) -> Vec<Part> {
        let splits = match &mut self.thinking {
            Some(thinking) => thinking.push(piece),
            None => vec![Split::Rest(piece.to_owned())],
        };
        let before: Vec<Part> = self.before.take().map(Part::Text).into_iter().collect();
        let mut parts: Vec<Part> = before;
        parts.extend(splits.into_iter().flat_map(|split| self.part(split)));
        parts.retain(|part| !matches!(part, Part::Text(text) | Part::Reasoning(text) if text.is_empty()));
        parts
    }

    /// The parts at the end of the answer.
    pub fn finish(&mut self) -> Vec<Part> {
        let rest = self.thinking.as_mut().and_then(Thinking::finish);
        let mut parts: Vec<Part> = self.before.take().map(Part::Text).into_iter().collect();
        parts.extend(rest.into_iter().flat_map(|split| self.part(split)).collect::<Vec<_>>());
        parts.extend(self.calls.as_mut().map(Calls::finish).unwrap_or_default());
        parts.retain(|part| !matches!(part, Part::Text(text) | Part::Reasoning(text) if text.is_empty()));
        parts
    }

    fn part(&mut self, split: Split) -> Vec<Part> {
        match (split, &mut self.calls) {
            (Split::Thoughts(text), _) => vec![Part::Reasoning(text)],
            (Split::Rest(text), Some(calls)) => calls.push(&text),
            (Split::Rest(text), None) => vec![Part::Text(text)],
        }
    }
}

/// Looks for calls in a text.
#[derive(Clone, Debug)]
struct Calls {
    format: &'static Format,
    /// The names of the tools.
    names: Vec<String>,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// Calls would be the whole answer, whose beginning is not certain.
    Begin(String),
    /// In text, where calls may begin; whether only white space has come since the last call, which is left out.
    Text(Stops, bool),
    /// Within calls: what has come since they began, and the search for the end.
    Inside(String, Stops),
    /// In text, where no calls begin.
    Rest,
}

impl Calls {
    fn new(format: &'static Format, names: Vec<String>) -> Self {
        let state = if format.is_whole { State::Begin(String::new()) } else { text(format, false) };
        Self { format, names, state }
    }

    fn push(&mut self, piece: &str) -> Vec<Part> {
        match &mut self.state {
            State::Begin(kept) => {
                kept.push_str(piece);
                let (start, opens) = (kept.trim_start(), self.format.opens);
                if opens.iter().any(|open| start.starts_with(open)) {
                    self.state = State::Inside(std::mem::take(kept), Stops::default());
                    return Vec::new();
                }
                if opens.iter().any(|open| open.starts_with(start)) {
                    return Vec::new();
                }
                let text = std::mem::take(kept);
                self.state = State::Rest;
                vec![Part::Text(text)]
            }
            State::Text(stops, is_behind) => {
                let Certain { mut text, is_stopped, rest } = stops.push(piece);
                if *is_behind {
                    text = text.trim_start().to_owned();
                    *is_behind = text.is_empty();
                }
                let mut parts = vec![Part::Text(text)];
                if is_stopped {
                    let closes = self.format.close.iter().map(ToString::to_string).collect();
                    self.state = State::Inside(String::new(), Stops::new(closes));
                    parts.extend(self.push(&rest));
                }
                parts
            }
            State::Inside(inside, stops) => {
                let Certain { text: more, is_stopped, rest } = stops.push(piece);
                inside.push_str(&more);
                if !is_stopped {
                    return Vec::new();
                }
                let inside = std::mem::take(inside);
                let mut parts = self.read(&inside, self.format.close);
                self.state = text(self.format, matches!(parts.first(), Some(Part::Call(_))));
                parts.extend(self.push(&rest));
                parts
            }
            State::Rest => vec![Part::Text(piece.to_owned())],
        }
    }

    fn finish(&mut self) -> Vec<Part> {
        match std::mem::replace(&mut self.state, State::Rest) {
            State::Begin(kept) => vec![Part::Text(kept)],
            State::Text(mut stops, _) => vec![Part::Text(stops.finish())],
            State::Inside(inside, mut stops) => self.read(&(inside + &stops.finish()), None),
            State::Rest => Vec::new(),
        }
    }

    /// The calls in a text, or the text with what was around it.
    fn read(&self, inside: &str, close: Option<&str>) -> Vec<Part> {
        let open = self.format.opens.first().copied().unwrap_or_default();
        let bare = if self.format.is_whole { inside.trim_start().trim_start_matches(open_word(open)) } else { inside };
        let calls = (self.format.read)(bare);
        match calls.filter(|calls| calls.iter().all(|call| self.names.contains(&call.name))) {
            Some(calls) => calls.into_iter().map(Part::Call).collect(),
            None if self.format.is_whole => vec![Part::Text(inside.to_owned())],
            None => vec![Part::Text(format!("{open}{inside}{}", close.unwrap_or_default()))],
        }
    }
}

/// The opening text, if the text is no part of calls.
const fn open_word(open: &str) -> &str {
    if open.len() > 1 { open } else { "\0" }
}

fn text(format: &Format, is_behind_call: bool) -> State {
    State::Text(Stops::new(format.opens.iter().map(ToString::to_string).collect()), is_behind_call)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::formats::format_of;

    /// The text and the calls of an answer in pieces of a length.
    fn read(template: &str, answer: &str, length: usize) -> (String, Vec<String>) {
        let names = vec!["f".to_owned(), "g".to_owned()];
        let mut reader = Reader::new(None, Some((format_of(template).unwrap(), names)));
        let letters: Vec<char> = answer.chars().collect();
        let mut parts: Vec<Part> =
            letters.chunks(length).flat_map(|piece| reader.push(&piece.iter().collect::<String>())).collect();
        parts.extend(reader.finish());
        let (mut text, mut calls) = (String::new(), Vec::new());
        for part in parts {
            match part {
                Part::Text(more) => text.push_str(&more),
                Part::Call(call) => calls.push(format!("{}{}", call.name, call.arguments)),
                Part::Reasoning(_) => panic!("no thoughts"),
            }
        }
        (text, calls)
    }

    #[test]
    fn calls_are_read_in_the_format_of_the_template() {
        let f = |number: u32| format!("f{}", json!({ "a": number }));
        let llama = "dictionary of argument name and its value";
        let python = "[func_name1(params_name1=params_value1";
        for length in [1, 3, 7, 1000] {
            for (template, answer, text, calls) in [
                (
                    "<tool_call>",
                    "Hm <tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>",
                    "Hm ",
                    vec![f(1)],
                ),
                (
                    "<tool_call>",
                    "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>\n<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 2}}",
                    "",
                    vec![f(1), f(2)],
                ),
                (
                    "<tool_call>",
                    "<tool_call>{\"name\": \"h\", \"arguments\": {}}</tool_call>.",
                    "<tool_call>{\"name\": \"h\", \"arguments\": {}}</tool_call>.",
                    vec![],
                ),
                ("<tool_call>", "a <tool_ b", "a <tool_ b", vec![]),
                ("[TOOL_CALLS]", "[TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {\"a\": 3}}]", "", vec![f(3)]),
                ("[TOOL_CALLS][ARGS]", "[TOOL_CALLS]f[ARGS]{\"a\": 3}", "", vec![f(3)]),
                (llama, "{\"name\": \"f\", \"parameters\": {\"a\": 4}}", "", vec![f(4)]),
                (llama, "<|python_tag|>{\"name\": \"f\", \"parameters\": {\"a\": 4}}", "", vec![f(4)]),
                (llama, "{\"fox\": 1}", "{\"fox\": 1}", vec![]),
                (llama, "A {fox}", "A {fox}", vec![]),
                (python, "[f(a=5), f(a=6)]", "", vec![f(5), f(6)]),
                (python, "[1, 2]", "[1, 2]", vec![]),
            ] {
                assert_eq!(read(template, answer, length), (text.to_owned(), calls), "{answer} in pieces of {length}");
            }
        }
    }

    #[test]
    fn a_template_of_another_format_has_none() {
        assert!(format_of("<tool_call><function=f>").is_none() && format_of("tools").is_none());
    }
}
