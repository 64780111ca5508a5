//! Rules that no type expresses.

use std::collections::BTreeSet;

use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_yaml::{Spanned, quote};

use crate::inputs;
use crate::{FixedValue, LayerScheme, Method, Model, Output, Recipe, Scheme};

/// Every rule that a typed recipe breaks.
pub fn check(recipe: &Recipe) -> Vec<Diagnostic> {
    let group_size = recipe.quantize.as_ref().and_then(|quantize| quantize.group_size.as_ref());
    let group_size = group_size.filter(|size| !size.value.is_power_of_two()).map(odd_group_size);
    let prefill = recipe.export.prefill.iter().flat_map(|lengths| &lengths.0);
    let contexts = recipe.export.context.iter().flat_map(|lengths| &lengths.0);
    let sizes = contexts.map(|size| ("context", size)).chain(prefill.map(|size| ("prefill", size)));
    let context = sizes.filter(|(_, size)| size.value == 0).map(|(key, size)| no_token(key, size));
    let lists = repeated(&recipe.targets).chain(repeated(recipe.partition.names()));
    lists
        .chain(group_size)
        .chain(layers(recipe))
        .chain(percentile(recipe))
        .chain(context)
        .chain(shorter_contexts(recipe))
        .chain(speculated(recipe))
        .chain(batched(recipe))
        .chain(measured(recipe))
        .chain(guessed(recipe))
        .chain(methods(recipe))
        .chain(constants(recipe))
        .chain(without_python(recipe))
        .chain(rotated(recipe))
        .chain(changed(recipe))
        .chain(adapted(recipe))
        .chain(single(recipe))
        .chain(inputs::mistakes(recipe))
        .collect()
}

/// The names that stand in a list before.
fn repeated(names: &[Spanned<String>]) -> impl Iterator<Item = Diagnostic> {
    let mut seen = BTreeSet::new();
    let again = names.iter().filter(move |name| !seen.insert(name.value.as_str()));
    again.map(|name| {
        let message = format!("duplicate entry {} in this list", quote(&name.value));
        Diagnostic::error(Code::BadValue, message).at((*name.span).clone()).help("remove one of the entries")
    })
}

/// A program without methods, and methods that no caller could name.
fn methods(recipe: &Recipe) -> Vec<Diagnostic> {
    let Model::Methods(methods) = &recipe.model else { return Vec::new() };
    let misnamed = methods.value.iter().filter(|(name, _)| !is_method_name(name));
    let misnamed = misnamed.map(|(name, file)| bad_method_name(name, &file.span));
    let empty = methods.value.is_empty().then(|| {
        let message = "a program needs at least one method";
        Diagnostic::error(Code::BadValue, message).at((*methods.span).clone()).help("write `forward: model.pt2`")
    });
    misnamed.chain(empty).collect()
}

/// Constant methods that no caller could name, or that are called like another method.
fn constants(recipe: &Recipe) -> Vec<Diagnostic> {
    let archives = recipe.model.archives();
    let judge = |(name, value): (&String, &Spanned<FixedValue>)| {
        if !is_method_name(name) {
            return Some(bad_method_name(name, &value.span));
        }
        let twice = || {
            let message = format!("duplicate method {}", quote(name));
            Diagnostic::error(Code::BadValue, message).at((*value.span).clone()).help("rename one of them")
        };
        archives.contains_key(name.as_str()).then(twice)
    };
    recipe.export.constants.iter().filter_map(judge).collect()
}

/// Options of Python functions in a recipe without a Python function.
fn without_python(recipe: &Recipe) -> Vec<Diagnostic> {
    if matches!(recipe.model, Model::Python(_)) {
        return Vec::new();
    }
    let export = &recipe.export;
    let arguments = export.arguments.values().map(|value| ("arguments", &value.span));
    let interpreter = export.interpreter.iter().map(|name| ("interpreter", &name.span));
    let files = export.files.iter().map(|file| ("files", &file.span));
    let mistake = |(key, span): (&str, &Span)| {
        let message = format!("`export.{key}` requires a model from a Python function");
        let help = "write `model: { python: file.py:function }`, or remove this key";
        Diagnostic::error(Code::BadValue, message).at(span.clone()).help(help)
    };
    arguments.chain(interpreter).chain(files).map(|(key, span)| mistake((key, span))).collect()
}

/// A rotation without a checkpoint: an archive does not mark its layers.
fn rotated(recipe: &Recipe) -> Option<Diagnostic> {
    let rotate = recipe.quantize.as_ref()?.rotate.as_ref()?;
    let is_checkpoint = matches!(recipe.model, Model::Checkpoint(_));
    let message = "`quantize.rotate` requires a checkpoint";
    let mistake = Diagnostic::error(Code::BadValue, message).at((*rotate.span).clone());
    (!is_checkpoint).then(|| mistake.help("write `model: { checkpoint: FOLDER }`, or remove this key"))
}

/// Stored integers that a rotation, a method or the scheme of a layer changes.
fn changed(recipe: &Recipe) -> Option<Diagnostic> {
    let quantize = recipe.quantize.as_ref().filter(|quantize| quantize.scheme.value == Scheme::Stored)?;
    let key = match (&quantize.rotate, quantize.method) {
        (Some(_), _) => "rotate",
        (None, Method::Gptq) => "method: gptq",
        (None, Method::Nearest) if quantize.layers.iter().any(|layer| !keeps_integers(layer.scheme.value)) => "layers",
        (None, Method::Nearest) => return None,
    };
    let message = format!("`scheme: stored` keeps the integers of the checkpoint, and `{key}` makes others");
    let help = format!("write `scheme: 8da4w` to quantize the numbers anew, or remove `{key}`");
    Some(Diagnostic::error(Code::BadValue, message).at((*quantize.scheme.span).clone()).help(help))
}

/// Whether a scheme of some layers leaves all stored integers as they are.
const fn keeps_integers(scheme: Scheme) -> bool {
    matches!(scheme, Scheme::Stored | Scheme::Float | Scheme::DynamicInt8 | Scheme::Int8Weights)
}

/// An adapter without a checkpoint: an archive neither marks its layers nor has adapter weights.
fn adapted(recipe: &Recipe) -> Option<Diagnostic> {
    let adapter = recipe.adapter.as_ref()?;
    let is_checkpoint = matches!(recipe.model, Model::Checkpoint(_));
    let message = "`adapter` requires a checkpoint";
    let mistake = Diagnostic::error(Code::BadValue, message).at((*adapter.span).clone());
    let help = "write `model: { checkpoint: FOLDER }`, or merge the adapter into the model before the export";
    (!is_checkpoint).then(|| mistake.help(help))
}

/// One file with weights in another.
fn single(recipe: &Recipe) -> Option<Diagnostic> {
    let weights = recipe.export.external_weights().filter(|_| recipe.output == Output::Single)?;
    let message = "`output: single` is one file, so weights cannot be in a file of their own";
    let mistake = Diagnostic::error(Code::BadValue, message).at((*weights.span).clone());
    Some(mistake.help("leave `weights` or `output` out"))
}

fn is_method_name(name: &str) -> bool {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    starts && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

fn bad_method_name(name: &str, span: &Span) -> Diagnostic {
    let message = format!("invalid method name {}", quote(name));
    let help = "use letters, digits and `_`, starting with a letter or `_`";
    Diagnostic::error(Code::BadValue, message).at(span.clone()).help(help)
}

fn odd_group_size(size: &Spanned<u32>) -> Diagnostic {
    let message = format!("invalid group size {}", size.value);
    Diagnostic::error(Code::BadValue, message).at((*size.span).clone()).help("write a power of two, such as 32")
}

/// Exceptions that match every layer, in place of the scheme.
fn layers(recipe: &Recipe) -> Vec<Diagnostic> {
    let layers = recipe.quantize.iter().flat_map(|quantize| &quantize.layers);
    let everything = layers.filter(|layer| layer.name.is_none() && layer.operator.is_none());
    let mistake = |layer: &LayerScheme| {
        let message = "an item of `quantize.layers` needs `name` or `operator`";
        Diagnostic::error(Code::MissingKey, message).at((*layer.span()).clone()).help("write `name: \"features.0.*\"`")
    };
    everything.map(mistake).collect()
}

/// A percentage that would keep less than half of the elements, or more than all.
fn percentile(recipe: &Recipe) -> Option<Diagnostic> {
    let percentile = recipe.quantize.as_ref()?.percentile.as_ref()?;
    let value = percentile.value.value();
    let message = format!("percentile {value} is out of range");
    let mistake = Diagnostic::error(Code::BadValue, message).at((*percentile.span).clone());
    (!(50.0..=100.0).contains(&value)).then(|| mistake.help("write a number from 50 to 100, such as 99.99"))
}

/// A number of tokens to verify at once that holds no guess, or that the caches have no room for.
fn speculated(recipe: &Recipe) -> Option<Diagnostic> {
    let tokens = recipe.export.speculate.as_ref()?;
    let most = recipe.export.prefill().last().copied().unwrap_or_default();
    let message = match tokens.value {
        1 => "`export.speculate: 1` leaves no room for draft tokens".to_owned(),
        many if many > most => format!("`export.speculate: {many}` exceeds the prefill chunk of {most} tokens"),
        _ => return None,
    };
    let mistake = Diagnostic::error(Code::BadValue, message).at((*tokens.span).clone());
    Some(mistake.help("write a number such as 8, or 0 to disable speculative decoding"))
}

/// A number of texts that is no batch, or more than is of use.
fn batched(recipe: &Recipe) -> Option<Diagnostic> {
    let texts = recipe.export.batch.as_ref().filter(|texts| texts.value != 0 && !(2..=64).contains(&texts.value))?;
    let message = format!("`export.batch: {}` is out of range", texts.value);
    let mistake = Diagnostic::error(Code::BadValue, message).at((*texts.span).clone());
    Some(mistake.help("write a number from 2 to 64, such as 8, or 0 for no batches"))
}

/// A number of executions that measures nothing, or whose report would be longer than is of use.
fn measured(recipe: &Recipe) -> Option<Diagnostic> {
    let executions = recipe.bench.as_ref().filter(|executions| !(1..=10_000).contains(&executions.value))?;
    let message = format!("`bench: {}` is out of range", executions.value);
    let mistake = Diagnostic::error(Code::BadValue, message).at((*executions.span).clone());
    Some(mistake.help("write a number of executions from 1 to 10000, such as 10"))
}

/// Speculative decoding with a scheme whose dynamic quantization would make results depend on the draft tokens.
fn guessed(recipe: &Recipe) -> Option<Diagnostic> {
    let tokens = recipe.export.speculate.as_ref().filter(|tokens| tokens.value > 0)?;
    let message = "with `dynamic-int8` all tokens share a scale, so speculative decoding would change the output";
    let mistake = Diagnostic::error(Code::BadValue, message).at((*tokens.span).clone());
    recipe
        .shares_scales()
        .then(|| mistake.help("write `scheme: 8da4w`, which quantizes per token, or remove `speculate`"))
}

/// Context lengths that do not ascend, or that a prefill chunk fills by itself.
fn shorter_contexts(recipe: &Recipe) -> Vec<Diagnostic> {
    let lengths = recipe.export.context.as_ref().map_or(&[][..], |lengths| &lengths.0);
    let most = recipe.export.prefill().last().copied().unwrap_or_default();
    let mistake = |length: &Spanned<u32>, message: String, help: String| {
        Diagnostic::error(Code::BadValue, message).at((*length.span).clone()).help(help)
    };
    let pairs = lengths.iter().zip(lengths.iter().skip(1));
    let judge = |(shorter, longer): (&Spanned<u32>, &Spanned<u32>)| match (shorter.value, longer.value) {
        (0, _) | (_, 0) => None,
        (first, second) if first >= second => {
            let message = format!("context length {second} does not exceed {first}, the length before");
            Some(mistake(
                longer,
                message,
                "write the lengths in ascending order, the capacity of the KV cache last".to_owned(),
            ))
        }
        (first, _) if first < most => {
            let message = format!("context length {first} is below the prefill chunk of {most} tokens");
            Some(mistake(shorter, message, format!("write a length from {most}, or a smaller `export.prefill`")))
        }
        _ => None,
    };
    pairs.filter_map(judge).collect()
}

fn no_token(key: &str, size: &Spanned<u32>) -> Diagnostic {
    let message = format!("`export.{key}` must be at least 1");
    let example = if key == "context" { 2048 } else { 128 };
    Diagnostic::error(Code::BadValue, message)
        .at((*size.span).clone())
        .help(format!("write a number such as {example}"))
}
