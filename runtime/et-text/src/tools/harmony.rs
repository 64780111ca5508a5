//! Answers of gpt-oss: messages in channels, of thoughts, of text and of calls.

use et_llm::{AnswerReader, AnswerSpec, Asked, Call, Choice, Constraint, Piece, Question, Stops, Text};
use serde_json::Value;

use super::grammar::token_or_text;
use super::schema::json_rule;
use super::tool::Tool;

/// Texts of a chat template with channels.
const MARKS: [&str; 2] = ["<|channel|>", "<|message|>"];
/// The special tokens of answers.
const WORDS: [&str; 7] =
    ["<|start|>", "<|channel|>", "<|constrain|>", "<|message|>", "<|end|>", "<|call|>", "<|return|>"];
/// Between the header and the text of a message.
const MESSAGE: &str = "<|message|>";
/// What ends a message.
const ENDS: [&str; 3] = ["<|end|>", "<|call|>", "<|return|>"];
/// The header of the answer's text.
const FINAL: &str = "<|channel|>final<|message|>";
/// The header of a call, up to the name.
const CALL: &str = "<|channel|>commentary to=functions.";

/// Whether the model of a chat template writes channels.
pub fn has_channels(template: &str) -> bool {
    MARKS.iter().all(|mark| template.contains(mark))
}

/// How the answer to a prompt is made and read. An answer with a form has no thoughts: its channel is part of the prompt.
pub fn ask(text: &dyn Text, question: &Question<'_>, prompt: String, tools: Vec<Tool>) -> Asked {
    let demanded: Vec<&Tool> = match question.tools.map(|tools| &tools.choice) {
        None | Some(Choice::Auto) => Vec::new(),
        Some(Choice::Required) => tools.iter().collect(),
        Some(Choice::Named(name)) => tools.iter().filter(|tool| tool.name == *name).collect(),
    };
    let header = match (demanded.is_empty(), question.has_form) {
        (false, _) => CALL,
        (true, true) => FINAL,
        (true, false) => "",
    };
    let constraint = (!demanded.is_empty()).then(|| Constraint::Grammar(grammar(&demanded, text)));
    let shown = WORDS.iter().filter_map(|name| Some((text.special(name)?, *name))).collect();
    let mut reader = Channels::new(tools, question.splits_thoughts);
    // A header makes no pieces.
    let _none = reader.push(header);
    let answer = AnswerSpec { constraint, behind: None, shown, reader: Box::new(reader) };
    Asked { prompt: prompt + header, answer }
}

/// The grammar of the rest of a call of one of the tools.
fn grammar(tools: &[&Tool], text: &dyn Text) -> String {
    let [constrain, message] = ["<|constrain|>", MESSAGE].map(|name| token_or_text(text, name));
    let calls = tools.iter().map(|tool| {
        let name = Value::from(format!("{} ", tool.name));
        format!("{name} {constrain} \"json\" {message} {}", json_rule(&tool.parameters))
    });
    format!("start: {}\n", calls.collect::<Vec<_>>().join(" | "))
}

/// Reads messages in channels.
#[derive(Clone, Debug)]
struct Channels {
    tools: Vec<Tool>,
    splits_thoughts: bool,
    /// Whether a message with text has ended, and no text has come since.
    is_behind_text: bool,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// Ahead of the text of a message.
    Header(String),
    /// In the text of a message.
    Body(Kind, Stops),
}

#[derive(Clone, Debug)]
enum Kind {
    Thoughts,
    Text,
    /// A call of the tool with this name, and its arguments so far.
    Call(String, String),
}

impl Kind {
    /// The kind of a message with this header.
    fn of(header: &str) -> Self {
        if let Some((_, behind)) = header.split_once("to=") {
            let name = behind.split([' ', '<', '\n']).next().unwrap_or_default();
            return Self::Call(name.strip_prefix("functions.").unwrap_or(name).to_owned(), String::new());
        }
        if header.contains("<|channel|>analysis") { Self::Thoughts } else { Self::Text }
    }
}

impl Channels {
    const fn new(tools: Vec<Tool>, splits_thoughts: bool) -> Self {
        Self { tools, splits_thoughts, is_behind_text: false, state: State::Header(String::new()) }
    }

    /// The pieces that a text of the current message makes certain.
    fn text(&mut self, text: String) -> Vec<Piece> {
        let State::Body(kind, _) = &mut self.state else { return Vec::new() };
        let is_told = matches!(kind, Kind::Text) || (matches!(kind, Kind::Thoughts) && !self.splits_thoughts);
        if self.is_behind_text && is_told && !text.is_empty() {
            self.is_behind_text = false;
            return vec![Piece::Text(format!("\n\n{text}"))];
        }
        let piece = match kind {
            Kind::Thoughts if self.splits_thoughts => Piece::Thoughts(text),
            Kind::Thoughts | Kind::Text => Piece::Text(text),
            Kind::Call(_, arguments) => {
                arguments.push_str(&text);
                return Vec::new();
            }
        };
        if piece.is_empty() { Vec::new() } else { vec![piece] }
    }

    /// The pieces at the end of the current message.
    fn end(&mut self) -> Vec<Piece> {
        match std::mem::replace(&mut self.state, State::Header(String::new())) {
            State::Body(Kind::Call(name, arguments), _) if !arguments.is_empty() => vec![self.call(name, arguments)],
            // A text stands apart from the text behind.
            State::Body(kind, _) => {
                self.is_behind_text |= matches!(kind, Kind::Text) || !self.splits_thoughts;
                Vec::new()
            }
            State::Header(_) => Vec::new(),
        }
    }

    /// The call of a tool; the arguments as text where no tool has the name, or where they are no JSON object.
    fn call(&self, name: String, arguments: String) -> Piece {
        let read: Option<Value> = serde_json::from_str(&arguments).ok().filter(Value::is_object);
        match read.filter(|_| self.tools.iter().any(|tool| tool.name == name)) {
            Some(arguments) => Piece::Call(Call { name, arguments: arguments.to_string() }),
            None => Piece::Text(arguments),
        }
    }
}

/// Whether a text is the beginning of a message.
fn begins_message(text: &str) -> bool {
    let text = text.trim_start();
    WORDS.iter().any(|word| text.starts_with(word)) || text.starts_with("assistant")
}

impl AnswerReader for Channels {
    fn push(&mut self, text: &str) -> Vec<Piece> {
        match &mut self.state {
            State::Header(kept) => {
                kept.push_str(text);
                let Some((header, behind)) = kept.split_once(MESSAGE) else { return Vec::new() };
                let (kind, behind) = (Kind::of(header), behind.to_owned());
                self.state = State::Body(kind, Stops::new(ENDS.map(str::to_owned).into()));
                self.push(&behind)
            }
            State::Body(_, stops) => {
                let certain = stops.push(text);
                let mut pieces = self.text(certain.text);
                if certain.is_stopped {
                    pieces.extend(self.end());
                    pieces.extend(self.push(&certain.rest));
                }
                pieces
            }
        }
    }

    fn finish(&mut self) -> Vec<Piece> {
        match &mut self.state {
            // A text without channels.
            State::Header(kept) if !begins_message(kept) && !kept.trim().is_empty() => {
                vec![Piece::Text(std::mem::take(kept))]
            }
            State::Header(_) => Vec::new(),
            State::Body(kind, stops) => {
                let (rest, is_call) = (stops.finish(), matches!(kind, Kind::Call(..)));
                let mut pieces = self.text(rest);
                if is_call {
                    pieces.extend(self.end());
                }
                pieces
            }
        }
    }

    fn again(&self) -> Box<dyn AnswerReader> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The thoughts, the text and the calls of an answer in pieces of a length.
    fn read(header: &str, answer: &str, splits_thoughts: bool, length: usize) -> [String; 3] {
        let tools = vec![Tool { name: "f".to_owned(), parameters: json!({ "type": "object" }) }];
        let mut reader = Channels::new(tools, splits_thoughts);
        assert!(reader.push(header).is_empty());
        let letters: Vec<char> = answer.chars().collect();
        let mut pieces: Vec<Piece> =
            letters.chunks(length).flat_map(|piece| reader.push(&piece.iter().collect::<String>())).collect();
        pieces.extend(reader.finish());
        let mut found = [String::new(), String::new(), String::new()];
        for piece in pieces {
            match piece {
                Piece::Thoughts(text) => found[0].push_str(&text),
                Piece::Text(text) => found[1].push_str(&text),
                Piece::Call(call) => found[2].push_str(&format!("{}{}", call.name, call.arguments)),
            }
        }
        found
    }

    #[test]
    fn messages_are_thoughts_text_or_calls_by_their_channel() {
        let answer = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.";
        let call = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.f \
            <|constrain|>json<|message|>{\"a\": 1}<|call|>";
        let other = "<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{\"a\": 1}";
        for length in [1, 4, 1000] {
            assert_eq!(read("", answer, true, length), ["Hm.", "Yes.", ""]);
            assert_eq!(read("", answer, false, length), ["", "Hm.\n\nYes.", ""]);
            assert_eq!(read("", call, true, length), ["Hm.", "", "f{\"a\":1}"]);
            assert_eq!(read("", other, true, length), ["", "", "f{\"a\":1}"]);
            assert_eq!(read(FINAL, "{}", true, length), ["", "{}", ""]);
            assert_eq!(read(CALL, "f <|constrain|>json<|message|>{}", true, length), ["", "", "f{}"]);
            assert_eq!(read(CALL, "g <|constrain|>json<|message|>{}", true, length), ["", "{}", ""]);
            assert_eq!(read("", "let y = f <| x", true, length), ["", "let y = f <| x", ""]);
            let both =
                "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>final<|message|>Done.";
            assert_eq!(read("", both, true, length), ["", "I look.\n\nDone.", ""]);
        }
    }
}
