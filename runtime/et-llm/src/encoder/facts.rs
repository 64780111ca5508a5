//! Named data of a program file that describes an encoder.

use std::str::FromStr;

use crate::Error;

/// The key of the named data with [`EncoderFacts`].
pub const ENCODER_KEY: &str = "etbuild.encoder";

/// What an encoder is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// A vector for a text.
    Embedding,
    /// A class of a text or of a pair of texts.
    Classes,
    /// A score of a pair of texts: a reranker.
    Score,
    /// A label for each word.
    Labels,
}

/// How logits become probabilities or scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scores {
    /// Shares of 1.
    Softmax,
    /// A probability for each label by itself.
    Sigmoid,
    /// The logits.
    Plain,
}

/// The facts about an encoder: lines of a word and a text, such as `task embedding`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncoderFacts {
    /// `task`.
    pub task: Task,
    /// `max_tokens`: the most tokens of a text.
    pub max_tokens: usize,
    /// `vocabulary`: the tokens of the model.
    pub vocabulary: usize,
    /// `scores`.
    pub scores: Scores,
    /// `label`: the names of the labels, in the order of the logits.
    pub labels: Vec<String>,
}

impl EncoderFacts {
    /// Reads the lines, and skips lines with unknown words.
    ///
    /// # Errors
    /// [`Error::NotALanguageModel`] for malformed lines.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let wrong = |reason: &str| Error::NotALanguageModel(format!("`{ENCODER_KEY}` is malformed: {reason}"));
        let text = std::str::from_utf8(bytes).map_err(|_| wrong("it is no text"))?;
        let lines = || text.lines().filter_map(|line| line.split_once(' '));
        let value = |word: &str| {
            let found = lines().find(|(name, _)| *name == word).map(|(_, value)| value);
            found.ok_or_else(|| wrong(&format!("there is no `{word}`")))
        };
        let number = |word: &str| value(word)?.parse().map_err(|_| wrong(&format!("`{word}` is no number")));
        let labels = lines().filter(|(name, _)| *name == "label").map(|(_, label)| label.to_owned());
        let facts = Self {
            task: value("task")?.parse().map_err(|()| wrong("the task is unknown"))?,
            max_tokens: number("max_tokens")?,
            vocabulary: number("vocabulary")?,
            scores: value("scores")?.parse().map_err(|()| wrong("the kind of scores is unknown"))?,
            labels: labels.collect(),
        };
        let has_labels = facts.task == Task::Embedding || !facts.labels.is_empty();
        if has_labels && facts.max_tokens > 0 { Ok(facts) } else { Err(wrong("labels or tokens are missing")) }
    }
}

impl FromStr for Task {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let all = [
            ("embedding", Self::Embedding),
            ("classes", Self::Classes),
            ("score", Self::Score),
            ("labels", Self::Labels),
        ];
        all.into_iter().find(|(name, _)| *name == text).map(|(_, task)| task).ok_or(())
    }
}

impl FromStr for Scores {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let all = [("softmax", Self::Softmax), ("sigmoid", Self::Sigmoid), ("plain", Self::Plain)];
        all.into_iter().find(|(name, _)| *name == text).map(|(_, scores)| scores).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_malformed_lines_are_errors() {
        let text = "task classes\nmax_tokens 8\nvocabulary 30\nscores softmax\nlabel very good\nlabel bad\nnew 1\n";
        let facts = EncoderFacts::parse(text.as_bytes()).unwrap();
        assert_eq!((facts.task, facts.max_tokens, facts.scores), (Task::Classes, 8, Scores::Softmax));
        assert_eq!(facts.labels, ["very good", "bad"]);
        for (old, new) in
            [("task classes", "task songs"), ("max_tokens 8", "max_tokens x"), ("scores", "no"), ("label", "l")]
        {
            assert!(EncoderFacts::parse(text.replace(old, new).as_bytes()).is_err(), "{new}");
        }
    }
}
