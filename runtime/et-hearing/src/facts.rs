//! Named data of a program file that describes what a model hears.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::str::FromStr;

use et_llm::Error;

/// The key of the named data with [`Facts`].
pub const HEARING_KEY: &str = "etbuild.hearing";

/// The facts about sound: lines of a word and values, such as `bands 80`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// `bands`: the bands of the features.
    pub bands: usize,
    /// `frames`: the frames of a window.
    pub frames: usize,
    /// What the model makes of sound.
    pub speech: Speech,
}

/// What a model makes of sound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Speech {
    /// Transcripts.
    Transcripts(SpokenTokens),
    /// Prompts.
    Prompts(AudioTokens),
}

/// The audio tokens of prompts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AudioTokens {
    /// `mark`: the text of an audio token, which stands for a sound in chat templates.
    pub mark: String,
    /// `token`: the audio token.
    pub token: u32,
    /// `tokens`: the audio tokens of a window.
    pub tokens: usize,
}

/// The special tokens of transcripts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpokenTokens {
    /// `start`: the token that begins every transcript.
    pub start: u32,
    /// `transcribe`: the task of a transcript in the language of the speech; `None` for a model of one language.
    pub transcribe: Option<u32>,
    /// `translate`: the task of a transcript in English.
    pub translate: Option<u32>,
    /// `no_timestamps`: the token for transcripts without timestamps, which come behind the token in the vocabulary.
    pub no_timestamps: Option<u32>,
    /// `previous`: the token ahead of earlier text.
    pub previous: Option<u32>,
    /// `first_timestamp`: the latest timestamp of a beginning, counted from the earliest.
    pub first_timestamp: Option<u32>,
    /// `suppressed`: tokens that never come.
    pub suppressed: Vec<u32>,
    /// `suppressed_first`: tokens that do not come first.
    pub suppressed_first: Vec<u32>,
    /// `language`: the token of each language, by code.
    pub languages: BTreeMap<String, u32>,
}

/// The largest numbers of facts: a damaged file may have any.
const MOST: usize = 1 << 16;

impl Facts {
    /// The lines, which [`Self::parse`] reads.
    pub fn to_text(&self) -> String {
        let Self { bands, frames, speech } = self;
        let mut text = format!("bands {bands}\nframes {frames}\n");
        match speech {
            Speech::Prompts(AudioTokens { mark, token, tokens }) => {
                let _ = write!(text, "mark {mark}\ntoken {token}\ntokens {tokens}\n");
            }
            Speech::Transcripts(spoken) => text.push_str(&spoken.to_text()),
        }
        text
    }

    /// Reads the lines, and skips lines with unknown words.
    ///
    /// # Errors
    /// [`Error::NotALanguageModel`] for malformed lines.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let text = std::str::from_utf8(bytes).map_err(|_| malformed("it is no text"))?;
        let lines: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once(' ')).collect();
        let find = |word: &str| lines.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
        let value = |word: &str| find(word).ok_or_else(|| malformed(&format!("there is no `{word}`")));
        let speech = match find("mark") {
            Some(mark) => Speech::Prompts(AudioTokens {
                mark: mark.to_owned(),
                token: number(value("token")?)?,
                tokens: number(value("tokens")?)?,
            }),
            None => Speech::Transcripts(SpokenTokens::parse(&lines)?),
        };
        let facts = Self { bands: number(value("bands")?)?, frames: number(value("frames")?)?, speech };
        let has_range = (1..=MOST).contains(&facts.bands) && (1..=MOST).contains(&facts.frames);
        let has_tokens = match &facts.speech {
            Speech::Prompts(AudioTokens { mark, tokens, .. }) => !mark.is_empty() && (1..=MOST).contains(tokens),
            Speech::Transcripts(_) => true,
        };
        if has_range && has_tokens { Ok(facts) } else { Err(malformed("a value is out of range")) }
    }
}

impl SpokenTokens {
    fn to_text(&self) -> String {
        let mut text = format!("start {}\n", self.start);
        let tokens = [
            ("transcribe", self.transcribe),
            ("translate", self.translate),
            ("no_timestamps", self.no_timestamps),
            ("previous", self.previous),
            ("first_timestamp", self.first_timestamp),
        ];
        for (word, token) in tokens.into_iter().filter_map(|(word, token)| Some((word, token?))) {
            let _ = writeln!(text, "{word} {token}");
        }
        for (word, tokens) in [("suppressed", &self.suppressed), ("suppressed_first", &self.suppressed_first)] {
            let tokens: Vec<String> = tokens.iter().map(u32::to_string).collect();
            let _ = writeln!(text, "{word} {}", tokens.join(" "));
        }
        for (code, token) in &self.languages {
            let _ = writeln!(text, "language {code} {token}");
        }
        text
    }

    fn parse(lines: &[(&str, &str)]) -> Result<Self, Error> {
        let find = |word: &str| lines.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
        let token = |word: &str| find(word).map(number::<u32>).transpose();
        let tokens = |word: &str| -> Result<Vec<u32>, Error> {
            find(word).unwrap_or_default().split_whitespace().map(number).collect()
        };
        let languages = lines.iter().filter(|(name, _)| *name == "language");
        let language = |(_, value): &(&str, &str)| {
            let (code, token) = value.split_once(' ').ok_or_else(|| malformed("`language` has other words"))?;
            Ok((code.to_owned(), number(token)?))
        };
        Ok(Self {
            start: token("start")?.ok_or_else(|| malformed("there is no `start`"))?,
            transcribe: token("transcribe")?,
            translate: token("translate")?,
            no_timestamps: token("no_timestamps")?,
            previous: token("previous")?,
            first_timestamp: token("first_timestamp")?,
            suppressed: tokens("suppressed")?,
            suppressed_first: tokens("suppressed_first")?,
            languages: languages.map(language).collect::<Result<_, Error>>()?,
        })
    }
}

fn malformed(reason: &str) -> Error {
    Error::NotALanguageModel(format!("`{HEARING_KEY}` is malformed: {reason}"))
}

fn number<T: FromStr>(text: &str) -> Result<T, Error> {
    text.parse().map_err(|_| malformed(&format!("`{text}` is no number")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        let spoken = SpokenTokens {
            start: 7,
            translate: Some(8),
            no_timestamps: Some(10),
            suppressed: vec![1, 2],
            languages: BTreeMap::from([("de".to_owned(), 5), ("en".to_owned(), 4)]),
            ..SpokenTokens::default()
        };
        Facts { bands: 80, frames: 3000, speech: Speech::Transcripts(spoken) }
    }

    #[test]
    fn facts_read_back_from_their_text() {
        let prompts = Speech::Prompts(AudioTokens { mark: "[AUDIO]".to_owned(), token: 24, tokens: 375 });
        for facts in [facts(), Facts { speech: prompts, ..facts() }] {
            assert_eq!(Facts::parse(facts.to_text().as_bytes()).unwrap(), facts);
        }
    }

    #[test]
    fn malformed_facts_are_errors() {
        let text = facts().to_text();
        for (old, new) in
            [("bands 80", "bands 0"), ("start 7", "start x"), ("frames", "f"), ("language de 5", "language de")]
        {
            assert!(Facts::parse(text.replacen(old, new, 1).as_bytes()).is_err(), "{new}");
        }
    }
}
