//! A method: tokens in, logits behind the last token out.

use etbuild_ir::{Graph, ValueId};

use super::attention::{self, Text};
use super::feed_forward;
use super::linear::{self, Linear};
use super::sides::{Side, Sides};
use super::sketch::Sketch;
use super::weights::{Part, TABLE, Weights};
use crate::{Decoder, NormPlaces};

/// The method for a number of tokens at once.
pub fn build(decoder: &Decoder, weights: &mut Weights<'_>, tokens: u32, every: bool) -> Graph {
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
    let state = if tokens == 1 || every { state } else { sketch.row(state, last) };
    let rows = if every { count } else { 1 };
    let logits = logits(decoder, &mut sketch, weights, state, rows);
    sketch.finish(vec![logits])
}

/// Tables whose rows are tokens, in the form of a linear layer's weights.
const ROWS: Sides<'static> = Sides { reads: Some(Side::Tokens), norm: None, makes: None };

fn embed(decoder: &Decoder, sketch: &mut Sketch, weights: &mut Weights<'_>, tokens: ValueId) -> ValueId {
    sketch.enter("model.embed_tokens");
    let table = weights.matrix(TABLE, Part::all(decoder.vocabulary), decoder.width, ROWS);
    let table = sketch.floats(&table);
    let embedded = sketch.embedding(table, tokens);
    match decoder.embedding_scale {
        Some(scale) => sketch.scale(embedded, scale),
        None => embedded,
    }
}

/// One layer: the outputs of attention and of the feed-forward network are added to the input.
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
    let weight = sketch.constant(&weights.norm(module));
    sketch.norm(value, weight, decoder.norm)
}

/// The normalization ahead of the output's matrix.
const NORM: &str = "model.norm";

/// The logits. A table that is the embedding too cannot take the gains ahead: in a rotated model the gains are a matrix.
fn logits(decoder: &Decoder, sketch: &mut Sketch, weights: &mut Weights<'_>, state: ValueId, rows: usize) -> ValueId {
    let mut normal = normalize(decoder, sketch, weights, NORM, state);
    if decoder.tied && weights.rotates() {
        let gains = sketch.constant(&weights.rotated_norm(NORM));
        normal = sketch.batch_product(normal, gains);
    }
    sketch.enter("lm_head");
    let (name, sides) = if decoder.tied { (TABLE, ROWS) } else { ("lm_head.weight", Sides::behind(NORM)) };
    let matrix = weights.matrix(name, Part::all(decoder.vocabulary), decoder.width, sides);
    let matrix = sketch.floats(&matrix);
    let logits = sketch.linear(normal, matrix, None);
    let head = Linear {
        module: "lm_head",
        part: Part::all(decoder.vocabulary),
        columns: decoder.width,
        sides,
        has_bias: false,
    };
    let logits = linear::adapted(sketch, weights, &head, normal, logits);
    let logits = sketch.view(logits, &[rows, decoder.vocabulary]);
    match decoder.logit_cap {
        Some(cap) => sketch.cap(logits, cap),
        None => logits,
    }
}
