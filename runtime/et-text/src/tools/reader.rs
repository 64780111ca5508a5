//! Reads thoughts, text and tool calls from an answer that comes in pieces.

use et_llm::{AnswerReader, Call, Certain, Piece, Stops};

use super::format::Format;
use super::thinking::{Split, Thinking};
use super::tool::Tool;

/// Reads an answer.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    /// Whether thoughts are no part of the text.
    splits_thoughts: bool,
    thinking: Option<Thinking>,
    calls: Option<Calls>,
}

impl Reader {
    /// A reader of an answer with thoughts, and with calls of these tools in a format.
    pub fn new(splits_thoughts: bool, thinking: Option<Thinking>, calls: Option<(&'static Format, Vec<Tool>)>) -> Self {
        Self { splits_thoughts, thinking, calls: calls.map(|(format, tools)| Calls::new(format, tools)) }
    }

    fn pieces(&mut self, split: Split) -> Vec<Piece> {
        match (split, &mut self.calls) {
            (Split::Mark(_), _) if self.splits_thoughts => Vec::new(),
            // Thoughts that are text keep their marks, and stand apart from the text behind.
            (Split::Mark(mark), _) => {
                let is_end = self.thinking.as_ref().is_some_and(|thinking| thinking.marks().end == mark);
                vec![Piece::Text(if is_end { format!("{mark}\n\n") } else { mark.to_owned() })]
            }
            (Split::Thoughts(text), _) if self.splits_thoughts => vec![Piece::Thoughts(text)],
            (Split::Thoughts(text), _) => vec![Piece::Text(text)],
            (Split::Rest(text), Some(calls)) => calls.push(&text),
            (Split::Rest(text), None) => vec![Piece::Text(text)],
        }
    }
}

impl AnswerReader for Reader {
    fn push(&mut self, text: &str) -> Vec<Piece> {
        let splits = match &mut self.thinking {
            Some(thinking) => thinking.push(text),
            None => vec![Split::Rest(text.to_owned())],
        };
        without_empty(splits.into_iter().flat_map(|split| self.pieces(split)))
    }

    fn finish(&mut self) -> Vec<Piece> {
        let rest = self.thinking.as_mut().and_then(Thinking::finish);
        let mut pieces: Vec<Piece> = rest.into_iter().flat_map(|split| self.pieces(split)).collect();
        pieces.extend(self.calls.as_mut().map(Calls::finish).unwrap_or_default());
        without_empty(pieces)
    }

    fn again(&self) -> Box<dyn AnswerReader> {
        Box::new(self.clone())
    }
}

fn without_empty(pieces: impl IntoIterator<Item = Piece>) -> Vec<Piece> {
    pieces.into_iter().filter(|piece| !piece.is_empty()).collect()
}

/// Looks for calls in a text.
#[derive(Clone, Debug)]
struct Calls {
    format: &'static Format,
    tools: Vec<Tool>,
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
    fn new(format: &'static Format, tools: Vec<Tool>) -> Self {
        let state = if format.is_whole { State::Begin(String::new()) } else { text(format, false) };
        Self { format, tools, state }
    }

    fn push(&mut self, piece: &str) -> Vec<Piece> {
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
                vec![Piece::Text(text)]
            }
            State::Text(stops, is_behind) => {
                let Certain { mut text, is_stopped, rest } = stops.push(piece);
                if *is_behind {
                    text = text.trim_start().to_owned();
                    *is_behind = text.is_empty();
                }
                let mut pieces = vec![Piece::Text(text)];
                if is_stopped {
                    let closes = self.format.close.iter().map(ToString::to_string).collect();
                    self.state = State::Inside(String::new(), Stops::new(closes));
                    pieces.extend(self.push(&rest));
                }
                pieces
            }
            State::Inside(inside, stops) => {
                let Certain { text: more, is_stopped, rest } = stops.push(piece);
                inside.push_str(&more);
                if !is_stopped {
                    return Vec::new();
                }
                let inside = std::mem::take(inside);
                let mut pieces = self.read(&inside, self.format.close);
                self.state = text(self.format, matches!(pieces.first(), Some(Piece::Call(_))));
                pieces.extend(self.push(&rest));
                pieces
            }
            State::Rest => vec![Piece::Text(piece.to_owned())],
        }
    }

    fn finish(&mut self) -> Vec<Piece> {
        match std::mem::replace(&mut self.state, State::Rest) {
            State::Begin(kept) => vec![Piece::Text(kept)],
            State::Text(mut stops, _) => vec![Piece::Text(stops.finish())],
            State::Inside(inside, mut stops) => self.read(&(inside + &stops.finish()), None),
            State::Rest => Vec::new(),
        }
    }

    /// The calls in a text, or the text with what was around it.
    fn read(&self, inside: &str, close: Option<&str>) -> Vec<Piece> {
        let open = self.format.opens.first().copied().unwrap_or_default();
        let word = Some(open).filter(|open| self.format.is_whole && open.len() > 1);
        let bare = word.map_or(inside, |word| inside.trim_start().trim_start_matches(word));
        let calls = (self.format.read)(bare, &self.tools);
        let is_tool = |call: &Call| self.tools.iter().any(|tool| tool.name == call.name);
        match calls.filter(|calls| calls.iter().all(is_tool)) {
            Some(calls) => calls.into_iter().map(Piece::Call).collect(),
            None if self.format.is_whole => vec![Piece::Text(inside.to_owned())],
            None => vec![Piece::Text(format!("{open}{inside}{}", close.unwrap_or_default()))],
        }
    }
}

fn text(format: &Format, is_behind_call: bool) -> State {
    State::Text(Stops::new(format.opens.iter().map(ToString::to_string).collect()), is_behind_call)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::formats::format_of;
    use super::super::thinking::Marks;
    use super::*;

    /// The text and the calls of an answer in pieces of a length.
    fn read(template: &str, answer: &str, length: usize) -> (String, Vec<String>) {
        let parameters = json!({ "type": "object", "properties": { "s": { "type": "string" } } });
        let tools = ["f", "g"].map(|name| Tool { name: name.to_owned(), parameters: parameters.clone() }).into();
        let mut reader = Reader::new(true, None, Some((format_of(template).unwrap(), tools)));
        let letters: Vec<char> = answer.chars().collect();
        let mut pieces: Vec<Piece> =
            letters.chunks(length).flat_map(|piece| reader.push(&piece.iter().collect::<String>())).collect();
        pieces.extend(reader.finish());
        let (mut text, mut calls) = (String::new(), Vec::new());
        for piece in pieces {
            match piece {
                Piece::Text(more) => text.push_str(&more),
                Piece::Call(call) => calls.push(format!("{}{}", call.name, call.arguments)),
                Piece::Thoughts(_) => panic!("no thoughts"),
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
                (
                    "<tool_call><function=<parameter=",
                    "Hm\n<tool_call>\n<function=f>\n<parameter=a>\n7\n</parameter>\n</function>\n</tool_call>",
                    "Hm\n",
                    vec![f(7)],
                ),
                (
                    "<tool_call><arg_key>",
                    "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>7</arg_value>\n</tool_call>",
                    "",
                    vec![f(7)],
                ),
                (
                    "<minimax:tool_call><invoke name=",
                    "<minimax:tool_call>\n<invoke name=\"f\">\n<parameter name=\"a\">7</parameter>\n</invoke>\n</minimax:tool_call>",
                    "",
                    vec![f(7)],
                ),
                (
                    "<|tool_call_start|>",
                    "<|tool_call_start|>[f(a=7), f(a=8)]<|tool_call_end|>So.",
                    "So.",
                    vec![f(7), f(8)],
                ),
                ("<|tool_list_start|>", "<|tool_call_start|>[f(a=7)]<|tool_call_end|>", "", vec![f(7)]),
                (
                    "<｜tool▁calls▁begin｜>",
                    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": 7}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
                    "",
                    vec![f(7)],
                ),
                (
                    "<|START_ACTION|>",
                    "<|START_ACTION|>[\n{\"tool_call_id\": \"0\", \"tool_name\": \"f\", \"parameters\": {\"a\": 7}}\n]<|END_ACTION|>",
                    "",
                    vec![f(7)],
                ),
                ("<function_calls>", "<function_calls>\nf(a=7)\nf(a=8)\n</function_calls>", "", vec![f(7), f(8)]),
                ("<|tool_call>call:", "<|tool_call>call:f{a:7}<tool_call|>", "", vec![f(7)]),
                ("<|tool_call|>", "<|tool_call|>[{\"name\": \"f\", \"arguments\": {\"a\": 7}}]", "", vec![f(7)]),
            ] {
                assert_eq!(read(template, answer, length), (text.to_owned(), calls), "{answer} in pieces of {length}");
            }
        }
    }

    #[test]
    fn calls_in_thoughts_are_none_where_thoughts_are_text() {
        let tools = vec![Tool { name: "f".to_owned(), parameters: json!({}) }];
        let marks = Marks::of("<think></think>").unwrap();
        let answer =
            "<think>I might write <tool_call>.</think>\n\n<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
        for splits_thoughts in [true, false] {
            let calls = Some((format_of("<tool_call>").unwrap(), tools.clone()));
            let mut reader = Reader::new(splits_thoughts, Some(Thinking::of("", marks)), calls);
            let pieces = [reader.push(answer), reader.finish()].concat();
            let text: String = pieces
                .iter()
                .filter_map(|piece| match piece {
                    Piece::Text(text) => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            assert_eq!(text, if splits_thoughts { "" } else { "<think>I might write <tool_call>.</think>\n\n" });
            assert!(matches!(pieces.last(), Some(Piece::Call(_))), "{pieces:?}");
        }
    }

    #[test]
    fn a_template_of_another_format_has_none() {
        assert!(format_of("<function=f>").is_none() && format_of("tools").is_none());
    }
}
