//! Several streams of hidden states, `[count, streams, width]`.

use etbuild_ir::ValueId;

use super::hidden::Hidden;
use super::layer_inputs;
use super::parts::Parts;
use crate::constant::Part;
use crate::{Decoder, Streams};

/// The projections of embeddings to the streams behind the first.
pub const PROJECTIONS: &str = "model.altup_projections";
/// The projections of streams behind the first, ahead of the head.
pub const BACK: &str = "model.altup_unembed_projections";
/// The part of a layer that predicts and corrects streams.
const MODULE: &str = "altup";
/// The least mean of squares of a vector that becomes as large as another.
const LEAST: f64 = 1e-5;

/// Streams as layers predict them.
#[derive(Clone, Copy)]
pub struct Predicted {
    /// All streams.
    all: ValueId,
    /// The stream that the layer computes, `[1, count, width]`.
    pub active: ValueId,
}

/// The streams of embeddings: the embedding, and projections of the same magnitude.
pub fn divided(decoder: &Decoder, parts: &mut Parts<'_, '_>, hidden: Hidden) -> Hidden {
    let Some(Streams { count, .. }) = decoder.streams else { return hidden };
    let (first, tokens) = (hidden.state, parts.sketch.size(hidden.state, 1));
    let squares = parts.sketch.mean_square(first);
    let magnitude = parts.sketch.root(squares);
    let mut all = vec![first];
    for index in 1..count {
        all.push(projected(decoder, parts, &format!("{PROJECTIONS}.{}", index - 1), first, magnitude));
    }
    let all: Vec<ValueId> =
        all.into_iter().map(|stream| parts.sketch.view(stream, &[tokens, 1, decoder.width])).collect();
    Hidden { state: parts.sketch.join(&all, 1), ..hidden }
}

/// The hidden state of the head: the mean of the first stream and of projections of the others of the same magnitude.
pub fn united(decoder: &Decoder, parts: &mut Parts<'_, '_>, hidden: Hidden) -> ValueId {
    let Some(Streams { count, .. }) = decoder.streams else { return hidden.state };
    let mut sum = stream(decoder, parts, hidden.state, 0);
    let squares = parts.sketch.mean_square(sum);
    let magnitude = parts.sketch.root(squares);
    for index in 1..count {
        let own = stream(decoder, parts, hidden.state, index);
        let own = projected(decoder, parts, &format!("{BACK}.{}", index - 1), own, magnitude);
        sum = parts.sketch.add(sum, own);
    }
    parts.sketch.scale(sum, (count as f64).recip())
}

/// A projection of hidden states, of the same magnitude as another.
fn projected(
    decoder: &Decoder,
    parts: &mut Parts<'_, '_>,
    module: &str,
    state: ValueId,
    magnitude: ValueId,
) -> ValueId {
    let made = parts.linear(module, state, [decoder.width, decoder.width], false);
    parts.sketch.as_large_as(made, magnitude, LEAST)
}

/// A stream, `[1, count, width]`.
fn stream(decoder: &Decoder, parts: &mut Parts<'_, '_>, all: ValueId, index: usize) -> ValueId {
    let own = parts.sketch.slice(all, 1, index, index + 1);
    parts.sketch.view(own, &[1, parts.sketch.size(all, 0), decoder.width])
}

/// The streams behind the layer of this module, predicted from all streams ahead of it.
pub fn predict(decoder: &Decoder, streams: Streams, parts: &mut Parts<'_, '_>, layer: &str, all: ValueId) -> Predicted {
    let (tokens, count) = (parts.sketch.size(all, 0), streams.count);
    let active = stream(decoder, parts, all, streams.active);
    let shares = shares(decoder, streams, parts, layer, active);
    let module = format!("{layer}.{MODULE}.prediction_coefs");
    let factors = parts.linear(&module, shares, [count * count, count], false);
    let factors = parts.sketch.view(factors, &[tokens, count, count]);
    let made = parts.sketch.products(factors, all);
    let all = parts.sketch.add(made, all);
    Predicted { all, active: stream(decoder, parts, all, streams.active) }
}

/// All streams, corrected by the difference of what the layer made of the active stream, `[1, count, width]`, from the prediction.
pub fn correct(
    decoder: &Decoder,
    streams: Streams,
    parts: &mut Parts<'_, '_>,
    layer: &str,
    predicted: Predicted,
    made: ValueId,
) -> ValueId {
    let (tokens, count) = (parts.sketch.size(predicted.all, 0), streams.count);
    let shares = shares(decoder, streams, parts, layer, made);
    let factors = parts.linear(&format!("{layer}.{MODULE}.correction_coefs"), shares, [count, count], false);
    let factors = parts.sketch.more(factors, 1.0);
    let factors = parts.sketch.view(factors, &[tokens, count, 1]);
    let difference = parts.sketch.less(made, predicted.active);
    let difference = parts.sketch.view(difference, &[tokens, 1, decoder.width]);
    let corrections = parts.sketch.products(factors, difference);
    parts.sketch.add(predicted.all, corrections)
}

/// The shares of streams, `[1, count, streams]`, from the active stream.
fn shares(decoder: &Decoder, streams: Streams, parts: &mut Parts<'_, '_>, layer: &str, active: ValueId) -> ValueId {
    let within = |name: &str| format!("{layer}.{MODULE}.{name}");
    let normal = parts.gain(&within("router_norm"), decoder.width, decoder.norm.epsilon, active);
    let normal = parts.sketch.scale(normal, (decoder.width as f64).recip());
    let made = parts.linear(&within("modality_router"), normal, [streams.count, decoder.width], false);
    parts.sketch.own("aten.tanh.default", &[made], &[])
}

/// All streams, but for the first, with what the embeddings for the layer add.
pub fn add_inputs(
    decoder: &Decoder,
    streams: Streams,
    parts: &mut Parts<'_, '_>,
    index: usize,
    hidden: Hidden,
) -> ValueId {
    let (all, module) = (hidden.state, format!("{}.{MODULE}", decoder.names.layer(index)));
    let mut active = stream(decoder, parts, all, streams.active);
    if streams.scales_active {
        parts.sketch.enter(module.as_str());
        let scale = parts.weights.vector(&format!("{module}.correct_output_scale"), Part::all(decoder.width), 0.0);
        let scale = parts.sketch.constant(&scale);
        active = parts.sketch.multiply(active, scale);
    }
    let Some(inputs) = hidden.inputs else { return all };
    let Some(added) = layer_inputs::addition(decoder, parts, index, (inputs, active)) else { return all };
    let added = parts.sketch.view(added, &[parts.sketch.size(all, 0), 1, decoder.width]);
    let [first, rest] = [[0, 1], [1, streams.count]].map(|[start, end]| parts.sketch.slice(all, 1, start, end));
    let rest = parts.sketch.add(rest, added);
    parts.sketch.join(&[first, rest], 1)
}

/// The hidden states behind attention, and what two matrices make of the input of attention, together, divided by the root of 2.
pub fn beside_attention(
    decoder: &Decoder,
    streams: Streams,
    parts: &mut Parts<'_, '_>,
    layer: &str,
    [read, between]: [ValueId; 2],
) -> ValueId {
    let within = |name: &str| format!("{layer}.laurel.{name}");
    let narrow = parts.linear(&within("linear_left"), read, [streams.rank, decoder.width], false);
    let wide = parts.linear(&within("linear_right"), narrow, [decoder.width, streams.rank], false);
    let normal = parts.gain(&within("post_laurel_norm"), decoder.width, decoder.norm.epsilon, wide);
    let beside = parts.sketch.add(read, normal);
    let sum = parts.sketch.add(between, beside);
    parts.sketch.scale(sum, std::f64::consts::FRAC_1_SQRT_2)
}
