//! The answer of an encoder to a text.

use std::fmt::Write;

use et_module::safetensors::quoted;

use super::scores::scores;
use super::{EncoderFacts, Task};
use crate::Reading;

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The embedding of a text.
    Embedding(Vec<f32>),
    /// The labels of a text, the likeliest first.
    Classes(Vec<Likely>),
    /// The score of a pair of texts.
    Score(f32),
    /// The words of a text with labels.
    Words(Vec<Word>),
}

/// A label with the probability or score.
#[derive(Clone, Debug, PartialEq)]
pub struct Likely {
    /// The label.
    pub label: String,
    /// The probability or score.
    pub score: f32,
}

/// A word with the likeliest label, which is that of the first token of the word.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// The first character of the word in the text.
    pub start: usize,
    /// The character behind the last.
    pub end: usize,
    /// The word.
    pub text: String,
    /// The label with the probability.
    pub likely: Likely,
}

/// The label of words without a label of interest.
const OUTSIDE: &str = "O";

impl Answer {
    /// The answer of the output of a model for a reading of a text.
    pub(super) fn new(facts: &EncoderFacts, output: Vec<f32>, reading: &Reading, text: &str) -> Self {
        match facts.task {
            Task::Embedding => Self::Embedding(output),
            Task::Score => Self::Score(scores(&output, facts.scores).first().copied().unwrap_or_default()),
            Task::Classes => Self::Classes(likely(facts, &output)),
            Task::Labels => Self::Words(words(facts, &output, reading, text)),
        }
    }

    /// A line or lines for people. Words without a label of interest are left out.
    pub fn lines(&self) -> String {
        match self {
            Self::Embedding(vector) => {
                let numbers: Vec<String> = vector.iter().map(ToString::to_string).collect();
                numbers.join(" ") + "\n"
            }
            Self::Score(score) => format!("{score}\n"),
            Self::Classes(classes) => {
                let first = classes.first();
                first.map(|Likely { label, score }| format!("{label} {score:.4}\n")).unwrap_or_default()
            }
            Self::Words(words) => {
                let mut lines = String::new();
                for Word { start, end, text, likely: Likely { label, score } } in words {
                    if label != OUTSIDE {
                        let _ = writeln!(lines, "{start}..{end} {text} {label} {score:.4}");
                    }
                }
                lines
            }
        }
    }

    /// All of the answer as a JSON object.
    pub fn json(&self) -> String {
        let class = |Likely { label, score }: &Likely| format!("{{\"label\":{},\"score\":{score}}}", quoted(label));
        match self {
            Self::Embedding(vector) => {
                let numbers: Vec<String> = vector.iter().map(ToString::to_string).collect();
                format!("{{\"embedding\":[{}]}}", numbers.join(","))
            }
            Self::Score(score) => format!("{{\"score\":{score}}}"),
            Self::Classes(classes) => {
                let classes: Vec<String> = classes.iter().map(class).collect();
                format!("{{\"classes\":[{}]}}", classes.join(","))
            }
            Self::Words(words) => {
                let word = |Word { start, end, text, likely: Likely { label, score } }: &Word| {
                    let (text, label) = (quoted(text), quoted(label));
                    format!("{{\"start\":{start},\"end\":{end},\"text\":{text},\"label\":{label},\"score\":{score}}}")
                };
                let words: Vec<String> = words.iter().map(word).collect();
                format!("{{\"words\":[{}]}}", words.join(","))
            }
        }
    }
}

/// All labels with the scores, the likeliest first.
fn likely(facts: &EncoderFacts, logits: &[f32]) -> Vec<Likely> {
    let scores = scores(logits, facts.scores);
    let mut all: Vec<Likely> =
        facts.labels.iter().zip(scores).map(|(label, score)| Likely { label: label.clone(), score }).collect();
    all.sort_by(|left, right| right.score.total_cmp(&left.score));
    all
}

fn words(facts: &EncoderFacts, output: &[f32], reading: &Reading, text: &str) -> Vec<Word> {
    let characters: Vec<char> = text.chars().collect();
    let mut words: Vec<Word> = Vec::new();
    let mut last = None;
    let rows = output.chunks(facts.labels.len().max(1));
    for ((word, [start, end]), logits) in reading.words.iter().zip(&reading.spans).zip(rows) {
        let Some(word) = word else { continue };
        match words.last_mut().filter(|_| last == Some(*word)) {
            Some(known) => known.end = *end,
            None => {
                let Some(likely) = likely(facts, logits).into_iter().next() else { continue };
                words.push(Word { start: *start, end: *end, text: String::new(), likely });
            }
        }
        last = Some(*word);
    }
    for word in &mut words {
        word.text = characters.get(word.start..word.end).unwrap_or_default().iter().collect();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::Scores;

    fn facts(task: Task) -> EncoderFacts {
        let labels = vec!["O".to_owned(), "PLACE".to_owned()];
        EncoderFacts { task, max_tokens: 8, vocabulary: 9, scores: Scores::Softmax, labels }
    }

    #[test]
    fn words_have_the_label_of_the_first_token_and_the_span_of_all() {
        let reading = Reading {
            tokens: vec![1, 5, 6, 7, 2],
            types: vec![0; 5],
            spans: vec![[0, 0], [0, 2], [3, 6], [6, 9], [0, 0]],
            words: vec![None, Some(0), Some(1), Some(1), None],
            cut: 0,
        };
        let output = vec![0.0, 0.0, 9.0, 0.0, 0.0, 9.0, 9.0, 0.0, 0.0, 0.0];
        let answer = Answer::new(&facts(Task::Labels), output, &reading, "in Zürich");
        assert_eq!(answer.lines(), "3..9 Zürich PLACE 0.9999\n");
        assert!(answer.json().starts_with("{\"words\":[{\"start\":0,\"end\":2,\"text\":\"in\",\"label\":\"O\""));
    }

    #[test]
    fn the_likeliest_class_comes_first() {
        let answer = Answer::new(&facts(Task::Classes), vec![0.0, 0.0_f32.exp()], &Reading::default(), "");
        assert_eq!(answer.lines(), "PLACE 0.7311\n");
    }
}
