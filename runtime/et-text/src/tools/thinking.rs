//! What a model thinks before the answer.

use et_llm::{Certain, Stops};

/// The texts around thoughts.
#[derive(Debug, PartialEq, Eq)]
pub struct Marks {
    /// Before thoughts.
    pub begin: &'static str,
    /// Behind thoughts.
    pub end: &'static str,
    /// The texts of both that may be special tokens.
    pub words: [&'static str; 2],
}

impl Marks {
    const fn plain(begin: &'static str, end: &'static str) -> Self {
        Self { begin, end, words: [begin, end] }
    }

    /// The marks that a chat template shows, if any.
    pub fn of(template: &str) -> Option<&'static Self> {
        MARKS.iter().find(|marks| template.contains(marks.begin) && template.contains(marks.end))
    }
}

static MARKS: &[Marks] = &[
    Marks::plain("<think>", "</think>"),
    // Magistral, Ministral.
    Marks::plain("[THINK]", "[/THINK]"),
    // Command R7B, Command A.
    Marks::plain("<|START_THINKING|>", "<|END_THINKING|>"),
    // Seed-OSS.
    Marks::plain("<seed:think>", "</seed:think>"),
    // Gemma 4.
    Marks { begin: "<|channel>thought", end: "<channel|>", words: ["<|channel>", "<channel|>"] },
];

/// Splits an answer in thoughts and the rest.
#[derive(Clone, Debug)]
pub struct Thinking {
    marks: &'static Marks,
    state: State,
}

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
    /// The text around thoughts.
    Mark(&'static str),
    /// Thoughts.
    Thoughts(String),
    /// The rest.
    Rest(String),
}

impl Thinking {
    /// An answer to a prompt, which may end within thoughts.
    pub fn of(prompt: &str, marks: &'static Marks) -> Self {
        let is_inside = prompt.trim_end().ends_with(marks.begin);
        Self { marks, state: if is_inside { inside(marks) } else { State::Begin(String::new()) } }
    }

    /// The texts around thoughts.
    pub const fn marks(&self) -> &'static Marks {
        self.marks
    }

    /// Whether the answer begins within thoughts.
    pub const fn is_inside(&self) -> bool {
        matches!(self.state, State::Inside(_))
    }

    /// A further piece.
    pub fn push(&mut self, piece: &str) -> Vec<Split> {
        match &mut self.state {
            State::Begin(kept) => {
                kept.push_str(piece);
                let start = kept.trim_start();
                if let Some(thoughts) = start.strip_prefix(self.marks.begin).map(str::to_owned) {
                    self.state = inside(self.marks);
                    return std::iter::once(Split::Mark(self.marks.begin)).chain(self.push(&thoughts)).collect();
                }
                if self.marks.begin.starts_with(start) {
                    return Vec::new();
                }
                let text = std::mem::take(kept);
                self.state = State::Rest;
                vec![Split::Rest(text)]
            }
            State::Inside(stops) => {
                let Certain { text, is_stopped, rest } = stops.push(piece);
                let mut parts = vec![Split::Thoughts(text)];
                if is_stopped {
                    self.state = State::Behind;
                    parts.push(Split::Mark(self.marks.end));
                    parts.extend(self.push(&rest));
                }
                parts
            }
            State::Behind => {
                let text = piece.trim_start().to_owned();
                if !text.is_empty() {
                    self.state = State::Rest;
                }
                vec![Split::Rest(text)]
            }
            State::Rest => vec![Split::Rest(piece.to_owned())],
        }
    }

    /// The text that was kept back, at the end of the answer.
    pub fn finish(&mut self) -> Option<Split> {
        match &mut self.state {
            State::Begin(kept) => Some(Split::Rest(std::mem::take(kept))),
            State::Inside(stops) => Some(Split::Thoughts(stops.finish())),
            State::Behind | State::Rest => None,
        }
    }
}

fn inside(marks: &Marks) -> State {
    State::Inside(Stops::new(vec![marks.end.to_owned()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The thoughts and the rest of an answer in pieces of a length.
    fn split(prompt: &str, answer: &str, length: usize) -> (String, String) {
        let marks = Marks::of("<think></think>").unwrap();
        let (mut thinking, mut thoughts, mut rest) = (Thinking::of(prompt, marks), String::new(), String::new());
        let letters: Vec<char> = answer.chars().collect();
        let mut parts: Vec<Split> =
            letters.chunks(length).flat_map(|piece| thinking.push(&piece.iter().collect::<String>())).collect();
        parts.extend(thinking.finish());
        for part in parts {
            match part {
                Split::Thoughts(text) => thoughts.push_str(&text),
                Split::Rest(text) => rest.push_str(&text),
                Split::Mark(_) => {}
            }
        }
        (thoughts, rest)
    }

    #[test]
    fn a_template_shows_the_marks_of_thoughts() {
        let begin = |template: &str| Marks::of(template).map(|marks| marks.begin);
        assert_eq!(begin("{{ '<|channel>thought\\n<channel|>' }}"), Some("<|channel>thought"));
        assert_eq!(begin("[THINK] [/THINK]"), Some("[THINK]"));
        assert_eq!(begin("<think>"), None);
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
