//! Refusals of recipes that have no mistake of form.

use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_recipe::{Model, Partition, Recipe, Runtime};
use etbuild_system::System;
use etbuild_target::Target;
use etbuild_yaml::{Spanned, suggest};

use super::first_look::is_media_case;
use super::quantization::needs_data;
use super::{compiler, encoder};
use crate::quantize::no_data;
use crate::session::World;

/// One refusal for every documented option that this version lacks.
pub fn unavailable(recipe: &Recipe) -> Vec<Diagnostic> {
    let mut refusals = Vec::new();
    let without_data = recipe.quantize.as_ref().filter(|quantize| quantize.calibrate.is_none() && needs_data(quantize));
    refusals.extend(without_data.map(|quantize| no_data().at((*quantize.scheme.span).clone())));
    let export = &recipe.export;
    let prefill = export.prefill.iter().flat_map(|lengths| &lengths.0);
    let context = export.context.iter().flat_map(|lengths| &lengths.0);
    let sizes = [&export.speculate, &export.batch, &export.image_tokens].into_iter().flatten();
    let sizes = context.chain(sizes).chain(prefill);
    if !matches!(recipe.model, Model::Checkpoint(_)) {
        refusals.extend(sizes.map(|size| refusal("a token count requires a checkpoint", &size.span)));
        let words = recipe.export.word_timestamps.iter();
        refusals.extend(words.map(|words| refusal("`export.word_timestamps` requires a checkpoint", &words.span)));
        let cache = recipe.export.cache.iter();
        refusals.extend(cache.map(|cache| refusal("`export.cache` requires a checkpoint", &cache.span)));
        let texts = [
            ("server", &recipe.server, "the server continues texts"),
            ("constrain", &recipe.constrain, "answers are texts"),
        ];
        let asked = texts.into_iter().filter_map(|(key, option, reason)| Some((key, option.as_ref()?, reason)));
        refusals.extend(asked.filter(|(_, option, _)| option.value).map(no_texts));
    } else {
        let operators = recipe.operators.first();
        refusals.extend(operators.map(|folder| refusal("a checkpoint calls no custom operators", &folder.span)));
    }
    refusals
}

/// Weights in a file of their own on a target that has no files.
pub fn no_file_system(recipe: &Recipe, target: &Target) -> Option<Diagnostic> {
    let weights = recipe.export.external_weights().filter(|_| target.memory().is_some())?;
    let message = format!("`{}` has no file system, so weights cannot be in a file of their own", target.name());
    let diagnostic = Diagnostic::error(Code::OptionUnavailable, message).at((*weights.span).clone());
    Some(diagnostic.help("leave `weights` out for this target: they lie in its flash, and are used in place"))
}

/// A target with a library alone, of a recipe that can have none.
pub fn no_binary(system: &dyn System, recipe: &Recipe, target: &Target, name: &Spanned<String>) -> Option<Diagnostic> {
    let is_encoder = matches!(&recipe.model, Model::Checkpoint(folder) if encoder::is_encoder(system, &folder.path));
    let is_refused = recipe.library.as_ref().is_some_and(|library| !library.value);
    if target.has_binary() || !(is_encoder || is_refused || recipe.diffusion.is_some()) {
        return None;
    }
    let message = format!("`{}` has a library alone, and the recipe has none", target.name());
    let diagnostic = Diagnostic::error(Code::OptionUnavailable, message).at((*name.span).clone());
    Some(diagnostic.help("leave `library: false` out; encoders and pipelines have no library yet"))
}

/// Updates for a target that runs no process with files.
pub fn no_updates(recipe: &Recipe, target: &Target) -> Option<Diagnostic> {
    let has_no_files = target.memory().is_some() || target.is_wasm();
    let updates = recipe.updates.as_ref().filter(|_| has_no_files)?;
    let message = format!("`{}` has no file system, so its binary cannot take updates", target.name());
    let diagnostic = Diagnostic::error(Code::OptionUnavailable, message).at((*updates.span).clone());
    Some(diagnostic.help("leave `updates` out for this target, and update the whole image"))
}

/// A language model on a target without a command line to give prompts on.
pub fn no_prompt(recipe: &Recipe, target: &Target, named: &Spanned<String>) -> Option<Diagnostic> {
    let is_firmware = matches!(recipe.model, Model::Checkpoint(_)) && target.memory().is_some();
    let message = format!(
        "`{}` runs firmware, which takes no prompt, so a language model has no text to continue",
        target.name()
    );
    let diagnostic = Diagnostic::error(Code::OptionUnavailable, message).at((*named.span).clone());
    is_firmware.then(|| diagnostic.help("choose a hosted target; `etbuild targets list` shows them"))
}

/// A picture or a recording as verification data of firmware, which reads no files.
pub fn no_decoder(system: &dyn System, recipe: &Recipe, target: &Target) -> Option<Diagnostic> {
    let verify = recipe.verify.as_ref().filter(|_| target.memory().is_some() && is_media_case(system, recipe))?;
    let message = format!("`{}` runs firmware, which carries tensors and decodes no files", target.name());
    let diagnostic = Diagnostic::error(Code::OptionUnavailable, message).at((*verify.inputs.span).clone());
    Some(diagnostic.help("write the preprocessed inputs to a safetensors file for this target"))
}

fn refusal(message: &str, span: &Span) -> Diagnostic {
    let help = "export the model with `torch.export.save` and name the archive in `model: { pt2: ... }`";
    Diagnostic::error(Code::OptionUnavailable, message).at(span.clone()).help(help)
}

/// An option about texts of a model that is no language model.
fn no_texts((key, option, reason): (&str, &Spanned<bool>, &str)) -> Diagnostic {
    let message = format!("`{key}` requires a checkpoint: {reason}");
    let diagnostic = Diagnostic::error(Code::OptionUnavailable, message).at((*option.span).clone());
    diagnostic.help(format!("leave `{key}` out, or name the folder of a checkpoint in `model: {{ checkpoint: ... }}`"))
}

/// The mistakes in the backends of a recipe: unknown backends, or backends that the runtime lacks.
pub fn partition_mistakes(recipe: &Recipe, world: &World) -> Vec<Diagnostic> {
    let words = [Partition::AUTO, Partition::PORTABLE];
    let engines = recipe.partition.names().iter().filter(|engine| !words.contains(&engine.value.as_str()));
    let mistake = |engine: &Spanned<String>| match (world.engine(&engine.value), recipe.runtime) {
        (None, _) => Some(match world.absent_engine(&engine.value) {
            Some(refusal) => refusal.at((*engine.span).clone()),
            None => unknown_engine(engine, world),
        }),
        (Some(_), Runtime::Executorch) => Some(no_engine_upstream(engine)),
        (Some(_), Runtime::Etbuild) => compiler::missing(world, engine),
    };
    engines.filter_map(mistake).collect()
}

fn unknown_engine(engine: &Spanned<String>, world: &World) -> Diagnostic {
    let names: Vec<&str> =
        world.engines().iter().map(|engine| engine.name()).chain([Partition::AUTO, Partition::PORTABLE]).collect();
    let message = format!("there is no backend `{}`", engine.value);
    let diagnostic = Diagnostic::error(Code::UnknownEngine, message).at((*engine.span).clone());
    let diagnostic = diagnostic.note(format!("the backends are {}", names.join(", ")));
    match suggest(&engine.value, names.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help(known_engine(world)),
    }
}

/// The backend to write instead of an unknown one.
fn known_engine(world: &World) -> String {
    let default = "leave `partition` out for the best backends of the target";
    match world.engines().first() {
        Some(engine) => format!("write `partition: [{}]`, or {default}", engine.name()),
        None => default.to_owned(),
    }
}

fn no_engine_upstream(engine: &Spanned<String>) -> Diagnostic {
    let message = format!("ExecuTorch's own runtime does not have the backend `{}`", engine.value);
    let diagnostic = Diagnostic::error(Code::EngineUnavailable, message).at((*engine.span).clone());
    diagnostic.help("leave `runtime: executorch` or `partition` out")
}

/// A recipe without targets.
pub fn no_target(recipe: &Recipe) -> Diagnostic {
    let message = format!("recipe `{}` names no target", recipe.name);
    let diagnostic = Diagnostic::error(Code::MissingKey, message).at(recipe.model.span().clone());
    diagnostic.help("add `targets:`, or give `--target`; `etbuild targets list` shows them")
}
