//! Requests to an encoder: texts in; embeddings, classes, scores or labels of words out.

use std::path::Path;

use et_core::ScalarType;
use et_module::safetensors::SafeTensors;
use et_module::{Array, FileBytes};

use super::Request;
use super::cases::{OUTPUT, token_rows, tokens, write_tensor};
use super::channels::Channels;
use super::files::{failed, read_tokens};
use super::form::prompt_text;
use crate::{Answer, Encoder, Error, Reading, Task};

/// Executes a request.
///
/// # Errors
/// The first failure of the request.
pub fn perform(encoder: &mut Encoder, request: &Request, channels: &mut Channels<'_>) -> Result<(), Error> {
    if let (Some(inputs), Some(outputs)) = (&request.inputs, &request.outputs) {
        return run_cases(encoder, inputs, outputs);
    }
    each(encoder, request, channels, |answer, channels| {
        let text = if request.json { answer.json() + "\n" } else { answer.lines() };
        Ok(channels.out.write_all(text.as_bytes())?)
    })
}

/// The answers to the texts of a request.
///
/// # Errors
/// The first failure.
pub fn answers(encoder: &mut Encoder, request: &Request, channels: &mut Channels<'_>) -> Result<Vec<Answer>, Error> {
    let mut all = Vec::new();
    each(encoder, request, channels, |answer, _| {
        all.push(answer);
        Ok(())
    })?;
    Ok(all)
}

fn each(
    encoder: &mut Encoder,
    request: &Request,
    channels: &mut Channels<'_>,
    mut give: impl FnMut(Answer, &mut Channels<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    check(request)?;
    if let Some(file) = &request.tokens_in {
        let tokens = read_tokens(file)?;
        let reading = Reading {
            words: vec![None; tokens.len()],
            spans: vec![[0; 2]; tokens.len()],
            tokens,
            ..Reading::default()
        };
        let answer = encoder.answer("", &reading)?;
        return give(answer, channels);
    }
    let text = prompt_text(request, channels)?.ok_or(Error::NoTokens)?;
    let lines: Vec<&str> = if request.prompt_file.is_some() { text.lines().collect() } else { vec![&text] };
    for line in lines {
        let (text, pair) = match (encoder.facts().task, line.split_once('\t')) {
            (Task::Score, Some((text, pair))) if request.pair.is_none() => (text, Some(pair)),
            _ => (line, request.pair.as_deref()),
        };
        let reading = encoder.read(text, pair)?;
        if reading.cut > 0 {
            let (most, cut) = (encoder.facts().max_tokens, reading.cut);
            writeln!(channels.talk, "note: a text was cut to {most} tokens: {cut} tokens were left out")?;
        }
        let answer = encoder.answer(text, &reading)?;
        give(answer, channels)?;
    }
    Ok(())
}

/// Refuses options of language models.
fn check(request: &Request) -> Result<(), Error> {
    let options = [
        ("--image", !request.images.is_empty()),
        ("--audio", !request.sounds.is_empty()),
        ("--stream", request.stream),
        ("--chat", request.chat),
        ("--system", request.system.is_some()),
        ("--template-variables", request.template_variables.is_some()),
        ("--max-new-tokens", request.max_new_tokens.is_some()),
        ("--temperature", request.temperature.is_some()),
        ("--n", request.count.is_some()),
        ("--logprobs", request.logprobs.is_some()),
        ("--stop", !request.stops.is_empty()),
        ("--json-schema", request.json_schema.is_some()),
        ("--regex", request.regex.is_some()),
        ("--grammar", request.grammar.is_some()),
        ("--lookup", request.lookup),
        ("--draft-model", request.draft_model.is_some()),
        ("--session", request.session.is_some()),
        ("--tokens-out", request.tokens_out.is_some()),
        ("--logits", request.logits.is_some()),
        ("--perplexity", request.perplexity.is_some()),
        ("--bench", request.bench.is_some()),
        ("--adapter", request.adapter.is_some()),
    ];
    let given = options.into_iter().find(|(_, is_given)| *is_given);
    given.map_or(Ok(()), |(name, _)| Err(Error::NotForEncoders(name)))
}

/// Refuses options of encoders, for a language model.
///
/// # Errors
/// [`Error::NotAnEncoder`] for such an option.
pub fn refuse_options(request: &Request) -> Result<(), Error> {
    if request.pair.is_some() { Err(Error::NotAnEncoder("--pair")) } else { Ok(()) }
}

/// The tensor with the types of tokens.
const TYPES: &str = "types";

/// Reads `tokens` and perhaps `types`, `int64 [cases, length]`, from a safetensors file, and writes `output_0`: the output of the model for
/// each, `float32`.
fn run_cases(encoder: &mut Encoder, inputs: &Path, outputs: &Path) -> Result<(), Error> {
    let bytes = FileBytes::open(inputs)?;
    let file = SafeTensors::parse(&bytes).map_err(|error| failed(inputs, &error))?;
    let cases = tokens(&file, inputs)?;
    let types = file.tensors.get(TYPES).and_then(token_rows).unwrap_or_default();
    let length = cases.first().map_or(0, Vec::len);
    let (mut all, count) = (Vec::new(), cases.len());
    for (index, tokens) in cases.iter().enumerate() {
        let output = encoder.run(tokens, types.get(index).map_or(&[], Vec::as_slice))?;
        all.extend(output.iter().flat_map(|number| number.to_le_bytes()));
    }
    let width = all.len() / size_of::<f32>() / count.max(1);
    let shape = match encoder.facts().task {
        Task::Labels => vec![count, length, width / length.max(1)],
        _ => vec![count, width],
    };
    write_tensor(outputs, OUTPUT, Array { scalar_type: ScalarType::Float, shape, bytes: all })
}
