//! What a model thinks before the answer.

use et_llm::{Certain, Stops};

/// The texts around thoughts.
pub const BEGIN: &str = "<think>";
/// The end of thoughts.
pub const END: &str = "</think>";

/// Splits an answer in thoughts and the rest.
#[derive(Clone, Debug)]
pub struct Thinking(State);

#[derive(Clone, Debug)]
enum State {
    /// The answer may begin with thoughts.
    Begin(String),
    /// Within thoughts.
    Inside(Stops),
    /// Behind thoughts, where white space is left out.
    Behind,
    /// In the rest.
    Rest,
}

/// A part of an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Split {
    /// Thoughts.
    Thoughts(String),
    /// The rest.
    Rest(String),
}

impl Thinking {
    /// An answer to a prompt, which may end within thoughts.
    pub fn of(prompt: &str) -> Self {
        let is_inside = prompt.trim_end().ends_with(BEGIN);
        Self(if is_inside { inside() } else { State::Begin(String::new()) })
    }

    /// Whether the answer begins within thoughts.
    pub const fn is_inside(&self) -> bool {
        matches!(self.0, State::Inside(_))
    }

    /// A further piece.
    pub fn push(&mut self, piece: &str) -> Vec<Split> {
        match &mut self.0 {
            State::Begin(kept) => {
                kept.push_str(piece);
                let start = kept.trim_start();
                if let Some(thoughts) = start.strip_prefix(BEGIN).map(str::to_owned) {
                    self.0 = inside();
                    return self.push(&thoughts);
                }
                if BEGIN.starts_with(start) {
                    return Vec::new();
                }
                let text = std::mem::take(kept);
                self.0 = State::Rest;
                vec![Split::Rest(text)]
            }
            State::Inside(stops) => {
                let Certain { text, is_stopped, rest } = stops.push(piece);
                let mut parts = vec![Split::Thoughts(text)];
                if is_stopped {
                    self.0 = State::Behind;
                    parts.extend(self.push(&rest));
                }
                parts
            }
            State::Behind => {
                let text = piece.trim_start().to_owned();
                if !text.is_empty() {
                    self.0 = State::Rest;
                }
                vec![Split::Rest(text)]
            }
            State::Rest => vec![Split::Rest(piece.to_owned())],
        }
    }

    /// The text that was kept back, at the end of the answer.
    pub fn finish(&mut self) -> Option<Split> {
        match &mut self.0 {
            State::Begin(kept) => Some(Split::Rest(std::mem::take(kept))),
            State::Inside(stops) => Some(Split::Thoughts(stops.finish())),
            State::Behind | State::Rest => None,
        }
    }
}

fn inside() -> State {
    State::Inside(Stops::new(vec![END.to_owned()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The thoughts and the rest of an answer in pieces of a length.
    fn split(prompt: &str, answer: &str, length: usize) -> (String, String) {
        let (mut thinking, mut thoughts, mut rest) = (Thinking::of(prompt), String::new(), String::new());
        let letters: Vec<char> = answer.chars().collect();
        let mut parts: Vec<Split> =
            letters.chunks(length).flat_map(|piece| thinking.push(&piece.iter().collect::<String>())).collect();
        parts.extend(thinking.finish());
        for part in parts {
            match part {
                Split::Thoughts(text) => thoughts.push_str(&text),
                Split::Rest(text) => rest.push_str(&text),
            }
        }
        (thoughts, rest)
    }

    #[test]
    fn thoughts_are_split_off_in_pieces_of_any_length() {
        for length in [1, 2, 5, 100] {
            for (prompt, answer, thoughts, rest) in [
                ("user", "<think>\na < b\n</think>\n\nYes.", "\na < b\n", "Yes."),
                ("user", "\n<think>a</think>b</think>", "a", "b</think>"),
                ("user", " <thin> Yes.", "", " <thin> Yes."),
                ("user", "<thin", "", "<thin"),
                ("<think>\n", "a</think>\n{}", "a", "{}"),
                ("<think>\n", "a</thi", "a</thi", ""),
                ("<think>\n\n</think>\n\n", "Yes.", "", "Yes."),
            ] {
                assert_eq!(split(prompt, answer, length), (thoughts.to_owned(), rest.to_owned()), "{answer}");
            }
        }
    }
}
