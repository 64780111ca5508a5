//! A method: tokens in, logits of the one behind the last out.

use etbuild_ir::{Graph, ValueId};

use super::attention::{self, Text};
use super::feed_forward;
use super::sketch::Sketch;
use super::weights::{Part, Weights};
use crate::{Decoder, NormPlaces};

/// The method for so many tokens at once.
pub fn build(decoder: &Decoder, weights: &mut Weights<'_>, tokens: u32) -> Graph {
    let (mut sketch, count) = (Sketch::default(), tokens as usize);
    let input = sketch.input("tokens", &[1, count]);
    let start = sketch.input("start", &[1]);
    let last = match tokens {
        1 => sketch.constant(&weights.integers("last", &[0])),
        _ => sketch.input("last", &[1]),
    };
    let text = Text { start, last, count };
    let mut state = embed(decoder, &mut sketch, weights, input);
    for index in 0..decoder.layers.len() {
        if weights.gave_up() {
            break;
        }
        state = layer(decoder, &mut sketch, weights, index, &text, state);
    }
    let state = if tokens == 1 { state } else { sketch.row(state, last) };
    let logits = logits(decoder, &mut sketch, weights, state);
    sketch.finish(vec![logits])
}

fn embed(decoder: &Decoder, sketch: &mut Sketch, weights: &mut Weights<'_>, tokens: ValueId) -> ValueId {
    sketch.enter("model.embed_tokens");
    let table = weights.matrix("model.embed_tokens.weight", Part::all(decoder.vocabulary), decoder.width);
    let table = sketch.floats(&table);
    let embedded = sketch.embedding(table, tokens);
    match decoder.embedding_scale {
        Some(scale) => sketch.scale(embedded, scale),
        None => embedded,
    }
}

/// One layer: what attention and the feed-forward network make is added to what comes in.
fn layer(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    index: usize,
    text: &Text,
    input: ValueId,
) -> ValueId {
    let module = format!("model.layers.{index}");
    let behind = decoder.norm_places == NormPlaces::BeforeAndBehind;
    let norm = |sketch: &mut Sketch, weights: &mut Weights<'_>, name: &str, value| {
        normalize(decoder, sketch, weights, &format!("{module}.{name}"), value)
    };
    let mut made = norm(sketch, weights, "input_layernorm", input);
    made = attention::build(decoder, sketch, weights, index, text, made);
    if behind {
        made = norm(sketch, weights, "post_attention_layernorm", made);
    }
    let between = sketch.add(input, made);
    let before = if behind { "pre_feedforward_layernorm" } else { "post_attention_layernorm" };
    made = norm(sketch, weights, before, between);
    made = feed_forward::build(decoder, sketch, weights, &module, made);
    if behind {
        made = norm(sketch, weights, "post_feedforward_layernorm", made);
    }
    sketch.add(between, made)
}

/// Normalization of tokens with the weights of a module.
fn normalize(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    module: &str,
    value: ValueId,
) -> ValueId {
    sketch.enter(module);
    let more = if decoder.norm.less_one { 1.0 } else { 0.0 };
    let weight = weights.vector(&format!("{module}.weight"), Part::all(decoder.width), more);
    let weight = sketch.constant(&weight);
    sketch.norm(value, weight, decoder.norm)
}

fn logits(decoder: &Decoder, sketch: &mut Sketch, weights: &mut Weights<'_>, state: ValueId) -> ValueId {
    let normal = normalize(decoder, sketch, weights, "model.norm", state);
    sketch.enter("lm_head");
    let name = if decoder.tied { "model.embed_tokens.weight" } else { "lm_head.weight" };
    let matrix = weights.matrix(name, Part::all(decoder.vocabulary), decoder.width);
    let matrix = sketch.floats(&matrix);
    let logits = sketch.linear(normal, matrix, None);
    let logits = sketch.view(logits, &[1, decoder.vocabulary]);
    match decoder.logit_cap {
        Some(cap) => sketch.cap(logits, cap),
        None => logits,
    }
}
