//! The named data of a checkpoint about sound: the features, and the special tokens of transcripts.

use std::collections::BTreeMap;

use et_hearing::{AudioTokens, Facts, Speech, SpokenTokens};
use serde_json::Value;

use crate::config::Config;
use crate::pictures::processor;
use crate::texts::{GENERATION, TOKENIZER, TOKENIZER_CONFIG, token_text};
use crate::{CONFIG, CheckpointError, Hearing, Reader, describe};

/// The key of the steps in the file of a processor.
const STEPS: &str = "feature_extractor";

/// Reads the facts about sound from the files of a checkpoint, by name; `None` for a model that does not hear.
///
/// # Errors
/// Missing and malformed files; features that are not supported.
pub fn read_sounds(files: &BTreeMap<String, &[u8]>) -> Result<Option<Vec<u8>>, CheckpointError> {
    let config = files.get(CONFIG).copied().unwrap_or_default();
    let Some(hearing) = describe(config)?.hearing else { return Ok(None) };
    let extractor = processor(files, STEPS)?.ok_or(CheckpointError::FeatureExtractorMissing)?;
    check(&hearing, &extractor)?;
    let speech = match hearing.reader {
        Reader::Cross => {
            let generation = files.get(GENERATION).map(|bytes| Config::parse_file(GENERATION, bytes)).transpose()?;
            Speech::Transcripts(spoken(&Config::parse(config)?, generation.as_ref())?)
        }
        Reader::Prompt { token, .. } => {
            let (mark, tokens) = (audio_text(files, token)?, hearing.tokens().unwrap_or(1));
            Speech::Prompts(AudioTokens { mark, token, tokens })
        }
    };
    let facts = Facts { bands: hearing.tower.bands, frames: 2 * hearing.tower.positions, speech };
    Ok(Some(facts.to_text().into_bytes()))
}

/// The heads that follow the sound by `generation_config.json`, layer and head each; `None` for a file that names none.
///
/// # Errors
/// A malformed file; heads that the model does not have.
pub fn aligned(file: &[u8], layers: usize, heads: usize) -> Result<Option<Vec<[usize; 2]>>, CheckpointError> {
    const KEY: &str = "alignment_heads";
    let config = Config::parse_file(GENERATION, file)?;
    let Some(list) = config.value(KEY).filter(|value| !value.is_null()) else { return Ok(None) };
    let pair = |value: &Value| {
        let numbers: Vec<usize> =
            value.as_array()?.iter().filter_map(|one| usize::try_from(one.as_u64()?).ok()).collect();
        <[usize; 2]>::try_from(numbers).ok().filter(|[layer, head]| *layer < layers && *head < heads)
    };
    let pairs = list.as_array().and_then(|list| list.iter().map(pair).collect::<Option<Vec<[usize; 2]>>>());
    let pairs = pairs.filter(|pairs| !pairs.is_empty());
    pairs.map(Some).ok_or_else(|| {
        config.mistake(KEY, format!("must be a list of a layer and a head each, of {layers} layers of {heads} heads"))
    })
}

/// Refuses a feature extractor whose log-mel features differ from those of Whisper.
fn check(hearing: &Hearing, extractor: &Config) -> Result<(), CheckpointError> {
    let numbers =
        [("feature_size", hearing.tower.bands), ("sampling_rate", 16_000), ("hop_length", 160), ("n_fft", 400)];
    for (key, wanted) in numbers {
        if extractor.optional_size(key)?.is_some_and(|size| size != wanted) {
            return Err(extractor.unsupported(key, format!("`{wanted}`")));
        }
    }
    if extractor.value("dither").is_some_and(|dither| dither.as_f64() != Some(0.0)) {
        return Err(extractor.unsupported("dither", "`0`"));
    }
    extractor.refuse("do_normalize")
}

/// The special tokens of transcripts.
fn spoken(config: &Config, generation: Option<&Config>) -> Result<SpokenTokens, CheckpointError> {
    let both = || generation.into_iter().chain([config]);
    let token = |key: &str| -> Result<Option<u32>, CheckpointError> {
        let found = both().find_map(|file| file.optional_count(key).transpose()).transpose()?;
        Ok(found.and_then(|token| u32::try_from(token).ok()))
    };
    let tokens = |key: &str| {
        let list = both().find_map(|file| file.value(key)).and_then(Value::as_array);
        let tokens = list.into_iter().flatten().filter_map(Value::as_u64);
        tokens.filter_map(|token| u32::try_from(token).ok()).collect::<Vec<u32>>()
    };
    let by_name = |key: &str| -> BTreeMap<String, u32> {
        let map = generation.and_then(|file| file.value(key)).and_then(Value::as_object);
        let entry = |(name, token): (&String, &Value)| Some((name.clone(), u32::try_from(token.as_u64()?).ok()?));
        map.into_iter().flatten().filter_map(entry).collect()
    };
    let tasks = by_name("task_to_id");
    let code = |name: &str| name.trim_matches(['<', '|', '>']).to_owned();
    let start = token("decoder_start_token_id")?;
    Ok(SpokenTokens {
        start: start.ok_or_else(|| config.mistake("decoder_start_token_id", "is missing"))?,
        transcribe: tasks.get("transcribe").copied(),
        translate: tasks.get("translate").copied(),
        no_timestamps: token("no_timestamps_token_id")?,
        previous: token("prev_sot_token_id")?,
        first_timestamp: token("max_initial_timestamp_index")?,
        suppressed: tokens("suppress_tokens"),
        suppressed_first: tokens("begin_suppress_tokens"),
        languages: by_name("lang_to_id").into_iter().map(|(name, token)| (code(&name), token)).collect(),
    })
}

/// The text of the audio token, by the tokenizer.
fn audio_text(files: &BTreeMap<String, &[u8]>, token: u32) -> Result<String, CheckpointError> {
    const USUAL: &str = "[AUDIO]";
    let optional = |name: &'static str| files.get(name).map(|bytes| Config::parse_file(name, bytes)).transpose();
    let named = optional(TOKENIZER_CONFIG)?;
    let named = named.as_ref().and_then(|config| config.value("audio_token")).and_then(token_text);
    if let Some(text) = named {
        return Ok(text.to_owned());
    }
    let tokenizer = optional(TOKENIZER)?;
    let added = tokenizer.as_ref().and_then(|file| file.value("added_tokens")).and_then(Value::as_array);
    let mut added = added.into_iter().flatten();
    let found = added.find(|entry| entry.get("id").and_then(Value::as_u64) == Some(u64::from(token)));
    Ok(found.and_then(token_text).unwrap_or(USUAL).to_owned())
}
