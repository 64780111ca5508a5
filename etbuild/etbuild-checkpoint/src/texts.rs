//! The named data of a checkpoint about texts: the tokenizer, the chat template, the stop tokens.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::{CONFIG, CheckpointError, describe};

/// The file with the tokenizer.
pub const TOKENIZER: &str = "tokenizer.json";
/// The file with further facts of the tokenizer, such as the chat template.
pub const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
/// The file with the chat template, where the configuration of the tokenizer lacks the template.
const TEMPLATE: &str = "chat_template.jinja";
/// The file with the chat template of a processor, in older checkpoints of models that read pictures.
pub const PROCESSOR_TEMPLATE: &str = "chat_template.json";
/// The file with how texts end, and how tokens are picked.
pub const GENERATION: &str = "generation_config.json";

/// The files that texts are read from besides [`CONFIG`], each of which may be missing.
pub const TEXT_FILES: [&str; 4] = [TOKENIZER, TOKENIZER_CONFIG, TEMPLATE, GENERATION];

/// The key of the chat template in the configuration of a tokenizer or a processor.
pub const TEMPLATE_KEY: &str = "chat_template";

/// The tokens that templates name.
const NAMED_TOKENS: [&str; 4] = ["bos_token", "eos_token", "pad_token", "unk_token"];

/// The named data of a program file, in the form for devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// The tokenizer: `tokenizer.json`, unchanged.
    pub tokenizer: Option<Vec<u8>>,
    /// The chat template, as a JSON object with the `template` and the template's variables.
    pub chat: Option<Vec<u8>>,
    /// The end of texts: lines of a word and numbers, such as `stop 2`.
    pub generation: Vec<u8>,
}

/// Reads the named data from the files of a checkpoint, by name, for texts of at most `context` tokens.
///
/// # Errors
/// Files that are no JSON; values without meaning.
pub fn read_texts(files: &BTreeMap<String, &[u8]>, context: Option<u32>) -> Result<Texts, CheckpointError> {
    let config = files.get(CONFIG).copied().unwrap_or_default();
    let decoder = describe(config)?;
    let context = decoder.context(context)?;
    let generation = files.get(GENERATION).map(|bytes| Config::parse_file(GENERATION, bytes)).transpose()?;
    let config = Config::parse(config)?;
    let tokenizer = files.get(TOKENIZER).map(|bytes| bytes.to_vec());
    if tokenizer.is_some() {
        object(files, TOKENIZER)?;
    }
    let template = files.get(TEMPLATE).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let of_processor = object(files, PROCESSOR_TEMPLATE)?;
    let of_processor = of_processor.and_then(|file| file.get(TEMPLATE_KEY).and_then(default_template));
    let template = template.or(of_processor);
    let chat = chat(&object(files, TOKENIZER_CONFIG)?.unwrap_or_default(), template, decoder.has_prompts_with_parts());
    // The configuration of a model with a vision encoder has that of the decoder under a key.
    let nested = config.optional_map("text_config")?;
    let stops = [generation.as_ref(), Some(&config), nested.as_ref()];
    let stops = stops.into_iter().flatten().find_map(|config| config.value(STOPS));
    let begin = match decoder.source {
        None => None,
        Some(_) => Some(first_token(&config, generation.as_ref())?),
    };
    let mut generation = lines(stops, generation.as_ref(), context)?;
    generation.extend(begin.map(|token| format!("begin {token}\n")).unwrap_or_default().into_bytes());
    Ok(Texts { tokenizer, chat, generation })
}

/// The key of the tokens that end a text: a token or a list.
const STOPS: &str = "eos_token_id";

/// The token that the text of a decoder beside a text encoder begins with.
fn first_token(config: &Config, generation: Option<&Config>) -> Result<usize, CheckpointError> {
    const KEY: &str = "decoder_start_token_id";
    let stated = generation.map(|file| file.optional_count(KEY)).transpose()?.flatten();
    let token = stated.map_or_else(|| config.optional_count(KEY), |token| Ok(Some(token)))?;
    token.ok_or_else(|| config.mistake(KEY, "is missing"))
}

fn object(files: &BTreeMap<String, &[u8]>, name: &'static str) -> Result<Option<Map<String, Value>>, CheckpointError> {
    let read = |bytes: &&[u8]| serde_json::from_slice(bytes);
    let malformed = |error: serde_json::Error| CheckpointError::Json { file: name, reason: error.to_string() };
    files.get(name).map(read).transpose().map_err(malformed)
}

/// The template with the template's variables; `None` without a template. The templates of models that read pictures get the parts of a
/// message.
fn chat(config: &Map<String, Value>, file: Option<String>, gets_parts: bool) -> Option<Vec<u8>> {
    let template = file.or_else(|| config.get(TEMPLATE_KEY).and_then(default_template))?;
    let token = |name: &str| Some((name.to_owned(), Value::from(token_text(config.get(name)?)?)));
    let mut chat: Map<String, Value> = NAMED_TOKENS.iter().filter_map(|name| token(name)).collect();
    chat.insert("template".to_owned(), Value::from(template));
    chat.extend(gets_parts.then(|| ("parts".to_owned(), Value::from("true"))));
    Some(Value::from(chat).to_string().into_bytes())
}

/// The template: a text, or the text of the name `default` in a list.
fn default_template(value: &Value) -> Option<String> {
    let is_default = |entry: &&Value| entry.get("name") == Some(&json!("default"));
    let named = || value.as_array()?.iter().find(is_default)?.get("template")?.as_str();
    value.as_str().or_else(named).map(str::to_owned)
}

/// A token's text: itself, or the content of an object.
pub fn token_text(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("content")?.as_str())
}

/// The lines of the named data that says how texts end. Tokens are picked at random only where the model's makers say so;
/// options against repetition hold without randomness too.
fn lines(stops: Option<&Value>, generation: Option<&Config>, context: u32) -> Result<Vec<u8>, CheckpointError> {
    let mut lines = format!("context {context}\n");
    let wrong = || CheckpointError::key(STOPS, "is neither a token nor a list of tokens");
    let token = |value: &Value| value.as_u64().and_then(|token| u32::try_from(token).ok()).ok_or_else(wrong);
    let stops: Vec<u32> = match stops {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list.iter().map(token).collect::<Result<_, _>>()?,
        Some(value) => vec![token(value)?],
    };
    if !stops.is_empty() {
        let words: Vec<String> = stops.iter().map(u32::to_string).collect();
        let _ = writeln!(lines, "stop {}", words.join(" "));
    }
    let Some(generation) = generation else { return Ok(lines.into_bytes()) };
    if let Some(penalty) = generation.optional_number("repetition_penalty")? {
        let _ = writeln!(lines, "repetition_penalty {penalty}");
    }
    if let Some(size) = generation.optional_count("no_repeat_ngram_size")? {
        let _ = writeln!(lines, "no_repeat_ngram_size {size}");
    }
    if generation.flag("do_sample")? {
        let usual = |name: &str| generation.value(name).and_then(Value::as_f64);
        let _ = writeln!(lines, "temperature {}", usual("temperature").unwrap_or(1.0));
        // 50 by default, as in `transformers`.
        let _ = writeln!(lines, "top_k {}", usual("top_k").unwrap_or(50.0) as u64);
        let _ = writeln!(lines, "top_p {}", usual("top_p").unwrap_or(1.0));
        for name in ["min_p", "typical_p"] {
            if let Some(share) = usual(name) {
                let _ = writeln!(lines, "{name} {share}");
            }
        }
    }
    Ok(lines.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"{"architectures": ["LlamaForCausalLM"], "vocab_size": 8, "hidden_size": 4, "intermediate_size": 4,
        "num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1, "rms_norm_eps": 1e-5, "hidden_act": "silu",
        "max_position_embeddings": 64, "rope_theta": 1e4, "eos_token_id": 2}"#;

    fn read(files: &[(&str, &str)]) -> Result<Texts, CheckpointError> {
        let files = files.iter().chain(&[(CONFIG, SMALL)]);
        let files: BTreeMap<String, &[u8]> = files.map(|(name, text)| ((*name).to_owned(), text.as_bytes())).collect();
        read_texts(&files, Some(32))
    }

    fn generation(files: &[(&str, &str)]) -> String {
        String::from_utf8(read(files).unwrap().generation).unwrap()
    }

    #[test]
    fn the_generation_config_says_more_than_the_config() {
        assert_eq!(generation(&[]), "context 32\nstop 2\n");
        assert_eq!(generation(&[(GENERATION, r#"{"eos_token_id": [5, 7]}"#)]), "context 32\nstop 5 7\n");
        let sampled = r#"{"do_sample": true, "temperature": 0.5, "top_p": 0.9}"#;
        assert_eq!(generation(&[(GENERATION, sampled)]), "context 32\nstop 2\ntemperature 0.5\ntop_k 50\ntop_p 0.9\n");
        let greedy = r#"{"repetition_penalty": 1.1, "no_repeat_ngram_size": 3, "min_p": 0.05}"#;
        let lines = "context 32\nstop 2\nrepetition_penalty 1.1\nno_repeat_ngram_size 3\n";
        assert_eq!(generation(&[(GENERATION, greedy)]), lines);
        let sampled = r#"{"do_sample": true, "repetition_penalty": 1, "min_p": 0.05}"#;
        let lines = "context 32\nstop 2\nrepetition_penalty 1\ntemperature 1\ntop_k 50\ntop_p 1\nmin_p 0.05\n";
        assert_eq!(generation(&[(GENERATION, sampled)]), lines);
    }

    #[test]
    fn templates_come_from_either_file_with_the_tokens_that_they_name() {
        let config = r#"{"chat_template": "a", "bos_token": {"content": "<s>"}, "eos_token": null}"#;
        let chat = |files: &[(&str, &str)]| String::from_utf8(read(files).unwrap().chat.unwrap()).unwrap();
        assert_eq!(chat(&[(TOKENIZER_CONFIG, config)]), r#"{"bos_token":"<s>","template":"a"}"#);
        assert_eq!(chat(&[(TOKENIZER_CONFIG, config), (TEMPLATE, "b")]), r#"{"bos_token":"<s>","template":"b"}"#);
        let several =
            r#"{"chat_template": [{"name": "tools", "template": "x"}, {"name": "default", "template": "y"}]}"#;
        assert_eq!(chat(&[(TOKENIZER_CONFIG, several)]), r#"{"template":"y"}"#);
        let processor = (PROCESSOR_TEMPLATE, r#"{"chat_template": "c"}"#);
        assert_eq!(chat(&[(TOKENIZER_CONFIG, config), processor]), r#"{"bos_token":"<s>","template":"c"}"#);
        assert_eq!(read(&[]).unwrap().chat, None);
    }

    #[test]
    fn malformed_files_are_errors_that_name_them() {
        for name in [TOKENIZER, TOKENIZER_CONFIG, GENERATION] {
            let error = read(&[(name, "{")]).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
        assert!(read(&[(GENERATION, r#"{"eos_token_id": "end"}"#)]).is_err());
        let error = read(&[(GENERATION, r#"{"repetition_penalty": 0}"#)]).unwrap_err().to_string();
        assert!(error.contains(GENERATION) && error.contains("repetition_penalty"), "{error}");
    }
}
