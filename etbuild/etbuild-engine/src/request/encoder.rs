//! Refusals of options that encoders lack, and of the options of encoders for other models.

use std::path::Path;

use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_recipe::{Model, Recipe};
use etbuild_system::System;

use super::quantization::needs_data;
use crate::input::reads_texts;

/// Whether the path is the checkpoint of an encoder.
pub fn is_encoder(system: &dyn System, path: &Path) -> bool {
    reads_texts(system, path)
}

/// One refusal for every option that a model of this kind lacks.
pub fn refusals(system: &dyn System, recipe: &Recipe) -> Vec<Diagnostic> {
    match &recipe.model {
        Model::Checkpoint(folder) if is_encoder(system, &folder.path) => of_language_models(recipe),
        _ => of_encoders(recipe),
    }
}

/// Options of language models, for an encoder.
fn of_language_models(recipe: &Recipe) -> Vec<Diagnostic> {
    let export = &recipe.export;
    let sizes = [
        ("export.speculate", &export.speculate),
        ("export.batch", &export.batch),
        ("export.image_tokens", &export.image_tokens),
    ];
    let sizes = sizes.into_iter().filter_map(|(key, size)| Some((key, &size.as_ref()?.span)));
    let lengths = [("export.context", &export.context), ("export.prefill", &export.prefill)];
    let lengths = lengths.into_iter().filter_map(|(key, lengths)| Some((key, &lengths.as_ref()?.0.first()?.span)));
    let cache = export.cache.iter().map(|cache| ("export.cache", &cache.span));
    let flags = [("constrain", &recipe.constrain), ("library", &recipe.library)];
    let flags = flags.into_iter().filter_map(|(key, flag)| flag.as_ref().map(|flag| (key, flag)));
    let flags = flags.filter(|(_, flag)| flag.value).map(|(key, flag)| (key, &flag.span));
    let adapter = recipe.adapter.iter().map(|adapter| ("adapter", &adapter.span));
    let quantize = recipe.quantize.as_ref();
    let rotate = quantize.and_then(|quantize| quantize.rotate.as_ref()).map(|rotate| ("quantize.rotate", &rotate.span));
    let calibrated = quantize.filter(|quantize| needs_data(quantize));
    let calibrated = calibrated.map(|quantize| ("calibrated quantization", &quantize.scheme.span));
    let all = lengths.chain(sizes).chain(cache).chain(flags).chain(adapter).chain(rotate).chain(calibrated);
    all.map(|(key, span)| refusal(&format!("an encoder has no {}", quoted(key)), span, ENCODER_HELP)).collect()
}

const ENCODER_HELP: &str = "leave the option out; docs/encoders.md has the options of encoders";

/// Options of encoders, for another model.
fn of_encoders(recipe: &Recipe) -> Vec<Diagnostic> {
    let text = &recipe.text;
    let all = [
        text.pooling.as_ref().map(|pooling| ("text.pooling", &pooling.span)),
        text.normalize.as_ref().map(|normalize| ("text.normalize", &normalize.span)),
        text.max_tokens.as_ref().map(|tokens| ("text.max_tokens", &tokens.span)),
    ];
    let help = "name the checkpoint of an encoder, such as BERT, or leave the key out";
    all.into_iter()
        .flatten()
        .map(|(key, span)| refusal(&format!("`{key}` requires the checkpoint of an encoder"), span, help))
        .collect()
}

/// A recipe key in backquotes. A phrase, which contains a blank, stays without quotes.
fn quoted(key: &str) -> String {
    if key.contains(' ') { key.to_owned() } else { format!("`{key}`") }
}

fn refusal(message: &str, span: &Span, help: &str) -> Diagnostic {
    Diagnostic::error(Code::OptionUnavailable, message).at(span.clone()).help(help)
}
