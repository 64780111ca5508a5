//! A method: tokens in, logits behind the last token out.

use etbuild_ir::{Graph, ValueId};

use super::hidden::Hidden;
use super::linear::{self, Linear};
use super::parts::Parts;
use super::sides::{Side, Sides};
use super::text::{Text, Turning};
use super::weights::Weights;
use super::{layer, layer_inputs, places, streams};
use crate::constant::{Constant, Part};
use crate::sketch::Sketch;
use crate::{Decoder, Mutual};

/// What a method makes of the hidden states behind the last layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The logits of the next token.
    Logits,
    /// The hidden states, normalized by the last norm.
    Embedding {
        /// Whether the vector has the length 1.
        normalize: bool,
    },
}

/// The method for a number of tokens at once.
pub fn build(decoder: &Decoder, weights: &mut Weights<'_>, tokens: u32, (every, ending): (bool, Ending)) -> Graph {
    let (mut sketch, count) = (Sketch::default(), tokens as usize);
    let input = sketch.input("tokens", &[1, count]);
    let start = sketch.input("start", &[1]);
    let last = match tokens {
        1 => sketch.constant(&weights.integers("last", &[0])),
        _ => sketch.input("last", &[1]),
    };
    let turning = turning(decoder, &mut sketch, &["position".to_owned()]);
    let text = Text { starts: vec![start], last, lasts: Vec::new(), count, mutual: Mutual::Nowhere, turning };
    let rows = if every { Rows::All } else { Rows::Last };
    let state = states(decoder, &mut sketch, weights, text, input, rows);
    let rows = if every { count } else { 1 };
    let output = match ending {
        Ending::Logits => logits(decoder, &mut sketch, weights, state, rows),
        Ending::Embedding { normalize } => embedding(decoder, &mut sketch, weights, state, normalize),
    };
    sketch.finish(vec![output])
}

/// The embedding of a text, `[1, width]`, from the state of the last token.
fn embedding(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    state: ValueId,
    normalize: bool,
) -> ValueId {
    let normal = Parts { sketch, weights }.normalize(decoder.names.norm, decoder.norm, state);
    let vector = sketch.view(normal, &[1, decoder.width]);
    if normalize { sketch.unit(vector) } else { vector }
}

/// The method for one token of each of several texts.
pub fn build_batch(decoder: &Decoder, weights: &mut Weights<'_>, texts: u32) -> Graph {
    let (mut sketch, count) = (Sketch::default(), texts as usize);
    let input = sketch.input("tokens", &[1, count]);
    let starts = (0..count).map(|index| sketch.input(&format!("start_{index}"), &[1])).collect();
    let positions: Vec<String> = (0..count).map(|index| format!("position_{index}")).collect();
    let turning = turning(decoder, &mut sketch, &positions);
    let last = sketch.constant(&weights.integers("last", &[0]));
    let is_recurrent = decoder.is_recurrent();
    let lasts = (0..count).filter(|_| is_recurrent).map(|index| sketch.input(&format!("last_{index}"), &[1])).collect();
    let text = Text { starts, last, lasts, count, mutual: Mutual::Nowhere, turning };
    let state = states(decoder, &mut sketch, weights, text, input, Rows::All);
    let logits = logits(decoder, &mut sketch, weights, state, count);
    sketch.finish(vec![logits])
}

/// How the heads of texts turn: by inputs of these names in a model whose positions differ from places in a text.
fn turning(decoder: &Decoder, sketch: &mut Sketch, names: &[String]) -> Turning {
    match decoder.sections() {
        Some(_) => Turning::Positions(names.iter().map(|name| sketch.input(name, &[1])).collect()),
        None => Turning::Places,
    }
}

/// The method for the image tokens of a tile of a picture, or the audio tokens of a window of sound, from embeddings; where pictures have
/// several sizes, for a chunk of image tokens, or for all of a picture whose image tokens see each other.
pub fn build_tile(decoder: &Decoder, weights: &mut Weights<'_>) -> Graph {
    let (mut sketch, vision) = (Sketch::default(), decoder.vision.as_ref());
    let count = decoder.call(weights.image_tokens).unwrap_or(weights.piece as usize);
    let width = vision.map_or(decoder.width, |vision| vision.token_width(decoder.width));
    let embeddings = sketch.numbers("embeddings", &[1, count, width]);
    let start = sketch.input("start", &[1]);
    let last = match decoder.tile() {
        Some(_) => {
            let last = i64::try_from(count).unwrap_or(i64::MAX) - 1;
            sketch.constant(&weights.integers("last.image", &[last]))
        }
        None => sketch.input("last", &[1]),
    };
    let turning = match decoder.sections() {
        Some(sections) => places::turning(&mut Parts { sketch: &mut sketch, weights }, sections, count),
        None => Turning::Places,
    };
    let mutual = vision.map_or(Mutual::Nowhere, |vision| vision.mutual);
    let text = Text { starts: vec![start], last, lasts: Vec::new(), count, mutual, turning };
    let mut parts = Parts { sketch: &mut sketch, weights };
    let hidden = Hidden::of_features(&mut parts, embeddings, decoder.width);
    let hidden = Hidden { inputs: layer_inputs::of_features(decoder, &mut parts, hidden.state), ..hidden };
    let state = layers(decoder, &mut parts, text, hidden, Rows::Last);
    let logits = logits(decoder, &mut sketch, weights, state, 1);
    sketch.finish(vec![logits])
}

/// The hidden states behind the last layer, of tokens.
fn states(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    text: Text,
    input: ValueId,
    rows: Rows,
) -> ValueId {
    let state = embed(decoder, sketch, weights, &text, input);
    let parts = &mut Parts { sketch, weights };
    let inputs = layer_inputs::of_tokens(decoder, parts, input, state);
    layers(decoder, parts, text, Hidden { state, inputs, features: None }, rows)
}

/// The tokens whose hidden states a method has a use for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// All.
    All,
    /// The last.
    Last,
}

/// The hidden states behind the last layer, of embeddings. Layers that read KV caches of earlier layers compute no other token than the last
/// where the others have no use.
fn layers(decoder: &Decoder, parts: &mut Parts<'_, '_>, mut text: Text, hidden: Hidden, rows: Rows) -> ValueId {
    let (last, all) = (text.last, text.count);
    let mut hidden = streams::divided(decoder, parts, hidden);
    for index in 0..decoder.layers.len() {
        if parts.weights.gave_up() {
            break;
        }
        let is_first_reader = rows == Rows::Last && text.count > 1 && index == decoder.first_reader();
        if let Some(own) = is_first_reader.then(|| text.at_last(parts)).flatten() {
            (hidden, text) = (hidden.at(parts, last), own);
        }
        hidden = layer::build(decoder, parts, index, &text, hidden).with_features(parts, index);
    }
    let state = streams::united(decoder, parts, hidden);
    if rows == Rows::Last && all > 1 && text.count == all { parts.sketch.row(state, last) } else { state }
}

/// Tables whose rows are tokens, in the form of a linear layer's weights.
pub(super) const ROWS: Sides<'static> = Sides { reads: Some(Side::Tokens), norm: None, makes: None };

/// The table of the embedding, which may be the matrix of the head too.
pub(super) fn table(decoder: &Decoder, weights: &mut Weights<'_>) -> Constant {
    let (name, part, columns) = (decoder.names.table(), Part::all(decoder.vocabulary), decoder.width);
    // A text encoder reads any number of tokens, and offsets are added to views of fixed sizes.
    match weights.rotates() || decoder.source.is_some() {
        true => weights.matrix(&name, part, columns, ROWS),
        false => weights.stored_table(&name, part, columns, decoder.tied),
    }
}

pub(super) fn embed(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    text: &Text,
    tokens: ValueId,
) -> ValueId {
    let names = &decoder.names;
    sketch.enter(names.embedding);
    let table = table(decoder, weights);
    let embedded = sketch.embed(&table, tokens);
    let scaled = decoder.embedding_scale.map_or(embedded, |scale| sketch.scale(embedded, scale));
    let placed = add_positions(decoder, sketch, weights, text, scaled);
    match decoder.embedding_norm {
        true => Parts { sketch, weights }.normalize(names.embedding_norm, decoder.norm, placed),
        false => placed,
    }
}

/// Adds the learned embedding of each token's position. Padding tokens have the position of the last token.
fn add_positions(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    text: &Text,
    tokens: ValueId,
) -> ValueId {
    let Some(positions) = decoder.positions else { return tokens };
    let module = decoder.names.positions;
    sketch.enter(module);
    let rows = Part { first: positions.first, count: positions.rows - positions.first, all: positions.rows };
    let table = weights.stored_matrix(&format!("{module}.weight"), rows, decoder.width);
    let table = sketch.floats(&table);
    let indices = match text.starts.as_slice() {
        [start] => {
            let steps: Vec<i64> = (0..).take(text.count).collect();
            let steps = sketch.constant(&weights.integers(&format!("steps.{}", text.count), &steps));
            let steps = sketch.least(steps, text.last);
            sketch.add(steps, *start)
        }
        starts => sketch.join(starts, 0),
    };
    let embedded = sketch.embedding(table, indices);
    let embedded = sketch.view(embedded, &[1, text.count, decoder.width]);
    sketch.add(tokens, embedded)
}

/// The logits. A table that is the embedding too cannot take the gains ahead: in a rotated model the gains are a matrix.
fn logits(decoder: &Decoder, sketch: &mut Sketch, weights: &mut Weights<'_>, state: ValueId, rows: usize) -> ValueId {
    let names = &decoder.names;
    let mut normal = Parts { sketch, weights }.normalize(names.norm, decoder.norm, state);
    if decoder.tied && weights.rotates() {
        let gains = sketch.constant(&weights.rotated_norm(names.norm));
        normal = sketch.batch_product(normal, gains);
    }
    sketch.enter(names.head);
    let (part, columns) = (Part::all(decoder.vocabulary), decoder.width);
    let (name, sides) =
        if decoder.tied { (names.table(), ROWS) } else { (weights.head(), Sides::behind(Some(names.norm))) };
    let matrix = match (decoder.tied, weights.rotates()) {
        (true, _) => table(decoder, weights),
        (false, true) => weights.matrix(&name, part, columns, sides),
        (false, false) => weights.stored_with_offsets(&name, part, columns),
    };
    let bias = decoder.head_bias.then(|| weights.vector(&format!("{}.bias", names.head), part, 0.0));
    let bias = bias.map(|bias| sketch.constant(&bias));
    let logits = sketch.product(normal, &matrix, bias);
    let head = Linear { module: names.head, part, columns, sides, has_bias: decoder.head_bias };
    let logits = linear::adapted(sketch, weights, &head, normal, logits);
    let logits = sketch.view(logits, &[rows, decoder.vocabulary]);
    let logits = decoder.logit_scale.map_or(logits, |scale| sketch.scale(logits, scale));
    decoder.logit_cap.map_or(logits, |cap| sketch.cap(logits, cap))
}
