//! Named data of a program file that describes the texts of the language model.

use et_module::Module;

use crate::Sampling;

/// The key of the named data with the tokenizer: Hugging Face's `tokenizer.json`.
pub const TOKENIZER_KEY: &str = "etbuild.tokenizer";
/// The key of the named data with the chat template: a JSON object whose `template` is the template, and whose other entries
/// are variables of the template; with an entry `parts`, the content of a message is a list of parts.
pub const CHAT_KEY: &str = "etbuild.chat";
/// The key of the named data with [`Facts`].
pub const GENERATION_KEY: &str = "etbuild.generation";

/// How texts end, and how their tokens are picked where nobody says otherwise.
///
/// The format in a program file is lines of a word and numbers, such as `stop 128001 128008`; lines with unknown words are skipped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// `stop`: tokens that end a text.
    pub stops: Vec<u32>,
    /// `begin`: the first token of the decoder's text, in a model whose prompts a text encoder reads.
    pub begin: Option<u32>,
    /// `context`: the most tokens of a text.
    pub context: Option<usize>,
    /// `temperature`.
    pub temperature: Option<f32>,
    /// `top_k`.
    pub top_k: Option<usize>,
    /// `top_p`.
    pub top_p: Option<f32>,
    /// `min_p`.
    pub min_p: Option<f32>,
    /// `typical_p`.
    pub typical_p: Option<f32>,
    /// `repetition_penalty`.
    pub repetition_penalty: Option<f32>,
    /// `no_repeat_ngram_size`.
    pub no_repeat_ngram_size: Option<usize>,
}

impl Facts {
    /// The facts in the program file of a method; the defaults for a file without facts.
    pub(crate) fn of(module: &Module) -> Self {
        let text = module.named_data(GENERATION_KEY).and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.map(Self::parse).unwrap_or_default()
    }

    /// How tokens are picked where nobody says otherwise.
    pub fn sampling(&self) -> Sampling {
        let usual = Sampling::default();
        Sampling {
            temperature: self.temperature.unwrap_or(usual.temperature),
            top_k: self.top_k.unwrap_or(usual.top_k),
            top_p: self.top_p.unwrap_or(usual.top_p),
            min_p: self.min_p.unwrap_or(usual.min_p),
            typical_p: self.typical_p.unwrap_or(usual.typical_p),
            repetition_penalty: self.repetition_penalty.unwrap_or(usual.repetition_penalty),
            no_repeat_ngram_size: self.no_repeat_ngram_size.unwrap_or(usual.no_repeat_ngram_size),
            ..usual
        }
    }

    /// Reads the lines and skips malformed lines.
    pub fn parse(text: &str) -> Self {
        let mut facts = Self::default();
        for line in text.lines() {
            let (word, numbers) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "stop" => facts.stops.extend(numbers.split(' ').filter_map(|number| number.parse::<u32>().ok())),
                "begin" => facts.begin = numbers.parse().ok(),
                "context" => facts.context = numbers.parse().ok(),
                "temperature" => facts.temperature = numbers.parse().ok(),
                "top_k" => facts.top_k = numbers.parse().ok(),
                "top_p" => facts.top_p = numbers.parse().ok(),
                "min_p" => facts.min_p = numbers.parse().ok(),
                "typical_p" => facts.typical_p = numbers.parse().ok(),
                "repetition_penalty" => facts.repetition_penalty = numbers.parse().ok(),
                "no_repeat_ngram_size" => facts.no_repeat_ngram_size = numbers.parse().ok(),
                _ => {}
            }
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_others_skipped() {
        let facts = Facts::parse("stop 2 7\ncontext 64\ntemperature 0.5\ntop_k x\nnews 3\n\n");
        let expected = Facts { stops: vec![2, 7], context: Some(64), temperature: Some(0.5), ..Facts::default() };
        assert_eq!(facts, expected);
        let facts = Facts::parse("min_p 0.05\nrepetition_penalty 1.1\nno_repeat_ngram_size 3");
        assert_eq!(
            (facts.min_p, facts.repetition_penalty, facts.no_repeat_ngram_size),
            (Some(0.05), Some(1.1), Some(3))
        );
    }
}
