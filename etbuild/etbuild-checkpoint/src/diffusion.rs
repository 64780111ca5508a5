//! Pipelines of `diffusers` that make pictures of texts: the tokenizer, the scheduler and the scale of latents.
//!
//! The facts follow `StableDiffusionPipeline`, which overrules the scheduler's `steps_offset` and `clip_sample`.

mod clip;
mod scheduler;

use std::collections::BTreeMap;

use et_diffusion::{Facts, Settings};
use serde_json::Value;

use crate::CheckpointError;
use crate::config::Config;
use crate::texts::token_text;

/// The file with the class of the pipeline, which may be missing.
const INDEX: &str = "model_index.json";
const SCHEDULER: &str = "scheduler/scheduler_config.json";
const TOKENIZER: &str = "tokenizer/tokenizer.json";
const TOKENIZER_CONFIG: &str = "tokenizer/tokenizer_config.json";
const SPECIAL_TOKENS: &str = "tokenizer/special_tokens_map.json";
const VOCABULARY: &str = "tokenizer/vocab.json";
const MERGES: &str = "tokenizer/merges.txt";
const VAE: &str = "vae/config.json";

/// The files of a pipeline that are read, each of which may be missing.
pub const PIPELINE_FILES: [&str; 8] =
    [INDEX, SCHEDULER, TOKENIZER, TOKENIZER_CONFIG, SPECIAL_TOKENS, VOCABULARY, MERGES, VAE];

/// The supported class of pipelines.
const PIPELINE: &str = "StableDiffusionPipeline";
/// The settings of a picture where nobody states others: the defaults of the class.
const SETTINGS: Settings = Settings { steps: 50, guidance: 7.5, seed: 0 };
/// The tokens of a prompt where the tokenizer states no number: those of CLIP.
const TOKENS: usize = 77;
/// The scale of latents where the VAE states no scale: the default of the class.
const LATENT_SCALE: f64 = 0.18215;

/// The named data of a pipeline's program file.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelineData {
    /// The tokenizer, in the form of `tokenizer.json`.
    pub tokenizer: Vec<u8>,
    /// The facts.
    pub facts: Facts,
}

/// Reads the files of a pipeline, by name, with the scheduler of this name in the place of the pipeline's.
///
/// # Errors
/// Missing and malformed files; pipelines and schedulers that are not supported.
pub fn read_pipeline(
    files: &BTreeMap<String, &[u8]>,
    scheduler: Option<&str>,
) -> Result<PipelineData, CheckpointError> {
    if let Some(index) = optional(files, INDEX)? {
        let class = index.optional_text("_class_name")?;
        if class.is_some_and(|class| class != PIPELINE) {
            return Err(index.unsupported("_class_name", format!("`{PIPELINE}`")));
        }
    }
    let (scheduler, schedule) = scheduler::read(&required(files, SCHEDULER)?, scheduler)?;
    let vae = required(files, VAE)?;
    if vae.value("shift_factor").is_some() {
        return Err(vae.unsupported("shift_factor", "`null`"));
    }
    let config = optional(files, TOKENIZER_CONFIG)?;
    let tokens = config.as_ref().map(|config| config.optional_tokens("model_max_length")).transpose()?.flatten();
    let facts = Facts {
        scheduler,
        schedule,
        latent_scale: vae.optional_number("scaling_factor")?.unwrap_or(LATENT_SCALE) as f32,
        tokens: tokens.unwrap_or(TOKENS),
        padding: clip::special(files, "pad_token")?,
        settings: SETTINGS,
    };
    Ok(PipelineData { tokenizer: tokenizer(files)?, facts })
}

/// The tokenizer: `tokenizer.json` unchanged, or made of the vocabulary and the merges.
fn tokenizer(files: &BTreeMap<String, &[u8]>) -> Result<Vec<u8>, CheckpointError> {
    let Some(bytes) = files.get(TOKENIZER) else { return clip::tokenizer(files) };
    let read: Result<Value, _> = serde_json::from_slice(bytes);
    read.map_err(|error| CheckpointError::Json { file: TOKENIZER, reason: error.to_string() })?;
    Ok(bytes.to_vec())
}

fn optional(files: &BTreeMap<String, &[u8]>, name: &'static str) -> Result<Option<Config>, CheckpointError> {
    files.get(name).map(|bytes| Config::parse_file(name, bytes)).transpose()
}

fn required(files: &BTreeMap<String, &[u8]>, name: &'static str) -> Result<Config, CheckpointError> {
    optional(files, name)?.ok_or(CheckpointError::FileMissing(name))
}

#[cfg(test)]
mod tests {
    use et_diffusion::{Betas, Prediction, Spacing};

    use super::*;

    const STABLE: &str = r#"{"_class_name": "PNDMScheduler", "beta_end": 0.012, "beta_schedule": "scaled_linear", "beta_start": 0.00085,
        "num_train_timesteps": 1000, "set_alpha_to_one": false, "skip_prk_steps": true, "steps_offset": 1, "trained_betas": null}"#;

    fn read(scheduler: &str, name: Option<&str>) -> Result<PipelineData, CheckpointError> {
        let files = [
            (INDEX, r#"{"_class_name": "StableDiffusionPipeline"}"#),
            (SCHEDULER, scheduler),
            (VOCABULARY, r#"{"a": 0, "b</w>": 1, "ab</w>": 2, "<|startoftext|>": 3, "<|endoftext|>": 4}"#),
            (MERGES, "#version: 0.2\na b</w>\n"),
            (SPECIAL_TOKENS, r#"{"pad_token": {"content": "!"}}"#),
            (TOKENIZER_CONFIG, r#"{"model_max_length": 5}"#),
            (VAE, r#"{"scaling_factor": 0.5}"#),
        ];
        read_pipeline(&files.into_iter().map(|(name, text)| (name.to_owned(), text.as_bytes())).collect(), name)
    }

    #[test]
    fn the_files_of_a_pipeline_become_facts() {
        let facts = read(STABLE, None).unwrap().facts;
        assert_eq!((facts.scheduler.name, facts.latent_scale, facts.tokens), ("pndm", 0.5, 5));
        assert_eq!((facts.padding.as_str(), facts.settings), ("!", SETTINGS));
        let schedule = facts.schedule;
        assert_eq!((schedule.betas, schedule.beta_end, schedule.ends_at_one), (Betas::ScaledLinear, 0.012, false));
        assert_eq!((schedule.prediction, schedule.spacing), (Prediction::Epsilon, Spacing::Leading));
    }

    #[test]
    fn another_scheduler_takes_its_own_defaults() {
        let facts = read(STABLE, Some("euler")).unwrap().facts;
        assert_eq!((facts.scheduler.name, facts.schedule.spacing), ("euler", Spacing::Linspace));
    }

    #[test]
    fn what_is_not_supported_is_named() {
        for (old, new, word) in [
            ("PNDMScheduler", "LCMScheduler", "LCMScheduler"),
            ("\"skip_prk_steps\": true", "\"skip_prk_steps\": false", "skip_prk_steps"),
            ("scaled_linear", "sigmoid", "beta_schedule"),
            ("\"trained_betas\": null", "\"trained_betas\": [0.1]", "trained_betas"),
            ("\"steps_offset\": 1", "\"prediction_type\": \"sample\"", "prediction_type"),
            ("1000", "0", "num_train_timesteps"),
        ] {
            let error = read(&STABLE.replace(old, new), None).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        let karras = STABLE.replace("\"steps_offset\": 1", "\"use_karras_sigmas\": true");
        assert!(read(&karras, None).is_ok(), "the scheduler does not read the key");
        assert!(read(&karras, Some("euler")).unwrap_err().to_string().contains("use_karras_sigmas"));
        assert!(matches!(read_pipeline(&BTreeMap::new(), None), Err(CheckpointError::FileMissing(SCHEDULER))));
    }
}
