//! Named data of a program file that describes the texts of the language model.

/// The key of the named data with the tokenizer: Hugging Face's `tokenizer.json`.
pub const TOKENIZER_KEY: &str = "etbuild.tokenizer";
/// The key of the named data with the chat template: a JSON object whose `template` is the template, and whose other entries
/// are variables of the template.
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
    /// `context`: the most tokens of a text.
    pub context: Option<usize>,
    /// `temperature`.
    pub temperature: Option<f32>,
    /// `top_k`.
    pub top_k: Option<usize>,
    /// `top_p`.
    pub top_p: Option<f32>,
}

impl Facts {
    /// Reads the lines and skips malformed lines.
    pub fn parse(text: &str) -> Self {
        let mut facts = Self::default();
        for line in text.lines() {
            let (word, numbers) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "stop" => facts.stops.extend(numbers.split(' ').filter_map(|number| number.parse::<u32>().ok())),
                "context" => facts.context = numbers.parse().ok(),
                "temperature" => facts.temperature = numbers.parse().ok(),
                "top_k" => facts.top_k = numbers.parse().ok(),
                "top_p" => facts.top_p = numbers.parse().ok(),
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
    }
}
