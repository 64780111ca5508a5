//! Refusals of options that models that read pictures or hear lack.

use std::path::Path;

use etbuild_checkpoint::{PictureSizes, Sound};
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_recipe::{Model, Recipe};
use etbuild_system::System;

use super::quantization::needs_data;
use crate::input::{hears, picture_sizes, reads_pictures};

/// One refusal for every option that the model of a recipe lacks.
pub fn refusals(system: &dyn System, recipe: &Recipe) -> Vec<Diagnostic> {
    let Model::Checkpoint(folder) = &recipe.model else { return Vec::new() };
    let path = &folder.path;
    calibrated(system, recipe, path)
        .into_iter()
        .chain(of_one_size(system, recipe, path))
        .chain(words(system, recipe, path))
        .collect()
}

/// Refuses times of words for a model that makes no transcripts.
fn words(system: &dyn System, recipe: &Recipe, path: &Path) -> Option<Diagnostic> {
    let words = recipe.export.word_timestamps.as_ref().filter(|words| words.value)?;
    let message = "`export.word_timestamps` requires a model for transcripts";
    let refusal = || Diagnostic::error(Code::OptionUnavailable, message).at((*words.span).clone());
    let makes_none = hears(system, path) != Some(Sound::Transcripts);
    makes_none
        .then(|| refusal().help("leave the key out, or name the checkpoint of such a model, such as whisper-base"))
}

/// Refuses calibrated quantization for a model that reads pictures or hears.
fn calibrated(system: &dyn System, recipe: &Recipe, path: &Path) -> Option<Diagnostic> {
    let quantize = recipe.quantize.as_ref().filter(|quantize| needs_data(quantize))?;
    let [does, lacks] = match hears(system, path) {
        Some(_) => ["hears", "no sound"],
        None => reads_pictures(system, path).then_some(["reads pictures", "no pictures"])?,
    };
    let message = format!("a model that {does} has no calibrated quantization: calibration text has {lacks}");
    let help = "choose `8da4w`, `dynamic-int8`, `int8-weights` or `int4-weights`, without `method: gptq` and limits";
    Some(Diagnostic::error(Code::OptionUnavailable, message).at((*quantize.scheme.span).clone()).help(help))
}

/// Refuses a number of image tokens for a model without pictures, and for a model whose pictures have one size.
fn of_one_size(system: &dyn System, recipe: &Recipe, path: &Path) -> Option<Diagnostic> {
    let tokens = recipe.export.image_tokens.as_ref()?;
    let is_one = picture_sizes(system, path)? != PictureSizes::Any;
    let message = "`export.image_tokens` requires a model that reads pictures of any size";
    let refusal = || Diagnostic::error(Code::OptionUnavailable, message).at((*tokens.span).clone());
    is_one.then(|| refusal().help("leave the key out, or name the checkpoint of such a model, such as Qwen2.5-VL"))
}
