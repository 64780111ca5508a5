//! Attention of a piece of text to the piece and to the KV cache of the text before.

mod heads;
mod latent;

use etbuild_ir::{Argument, ValueId};

use super::linear::{self, Linear};
use super::parts::Parts;
use super::sides::{Side, Sides};
use super::text::{Own, Text};
use super::weights::Weights;
use crate::constant::Part;
use crate::names::norm_within;
use crate::sketch::Sketch;
use crate::{Attention, Decoder, HeadNorm, Inputs};

/// The attention of layer `index`, of tokens `[1, count, width]`.
pub fn build(decoder: &Decoder, parts: &mut Parts<'_, '_>, index: usize, text: &Text, input: ValueId) -> ValueId {
    if index >= decoder.layers.len() {
        return input;
    }
    let (names, attention) = (&decoder.names, &decoder.attention);
    let layer_module = names.layer(index);
    let norm = norm_within(&layer_module, decoder.norm_places.before_attention);
    let place = Place { module: format!("{layer_module}.{}", names.attention), norm };
    if let Some(latent) = attention.latent {
        let place = latent::Place { module: &place.module, text };
        return latent::build(decoder, latent, parts, index, &place, input);
    }
    let Parts { sketch, weights } = parts;
    let inputs = inputs(decoder, sketch, weights, &place, text, input);
    let (inputs, gate) = heads::gates(decoder, sketch, inputs);
    let shaped = inputs.map(|(role, projected)| {
        let whole = heads::whole_norm(decoder, sketch, weights, &place.module, role, projected);
        let clipped = attention.clip.map_or(whole, |most| sketch.clip(whole, most));
        sketch.view(clipped, &[1, text.count, role.heads(attention), attention.depth])
    });
    let rows = text.each(parts, shaped, |parts, own, rows| attend(decoder, parts, index, &place, own, rows));
    let Parts { sketch, weights } = parts;
    let rows = sketch.view(rows, &[1, text.count, attention.heads * attention.depth]);
    let rows = heads::gated(sketch, rows, gate);
    project(decoder, sketch, weights, &place, Role::Output, rows)
}

/// The attention of a text, `[1, count, heads, depth]`, from queries, keys and values of this shape.
fn attend(
    decoder: &Decoder,
    parts: &mut Parts<'_, '_>,
    index: usize,
    place: &Place,
    text: &Own,
    [query, key, value]: [ValueId; 3],
) -> ValueId {
    let (attention, Parts { sketch, weights }) = (&decoder.attention, parts);
    let (rotary, window) = decoder.layers.get(index).map_or((None, None), |layer| (layer.rotary, layer.window));
    let [query, key] = [(Role::Query, query), (Role::Key, key)].map(|(role, shaped)| {
        let module = &place.module;
        let is_late = attention.head_norm == HeadNorm::EachRotated;
        let early = if is_late { shaped } else { heads::norm(decoder, sketch, weights, module, role, shaped) };
        let rotated = heads::rotate(decoder, sketch, weights, rotary, role, text, early);
        if is_late { heads::norm(decoder, sketch, weights, module, role, rotated) } else { rotated }
    });
    sketch.enter(place.module.as_str());
    let mut keep = |name: &str, rows: ValueId| keep(sketch, weights, &place.module, name, text, window, rows);
    let (keys, values) = (keep("keys", key), keep("values", value));
    let by_distance = attention.relative.map(|relative| weights.by_distance(relative, attention.heads));
    let slopes = by_distance.or_else(|| attention.has_slopes.then(|| weights.slopes(attention.heads)));
    let sinks = format!("{}.sinks", place.module);
    let sinks = attention.has_sinks.then(|| weights.vector(&sinks, Part::all(attention.heads), 0.0));
    let [slopes, sinks] = [slopes, sinks]
        .map(|numbers| numbers.map_or(Argument::None, |numbers| Argument::Value(sketch.constant(&numbers))));
    let rest = [
        Argument::Float(attention.scale),
        Argument::Int(window.map_or(0, |window| i64::try_from(window).unwrap_or(i64::MAX))),
        Argument::Float(attention.cap.unwrap_or(0.0)),
        slopes,
        sinks,
        Argument::Int(0),
    ];
    let read = [query, keys, values, text.start, text.last];
    let operator = if text.is_mutual { "etbuild.attend_block.default" } else { "etbuild.attend_cache.default" };
    sketch.own(operator, &read, &rest)
}

/// The KV cache of this name in a module, with the rows of a text.
fn keep(
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    module: &str,
    name: &str,
    text: &Own,
    window: Option<usize>,
    rows: ValueId,
) -> ValueId {
    let first = weights.cache(window);
    sketch.update(&text.name(&format!("{module}.{name}")), &first, |sketch, cache| {
        sketch.own("etbuild.write_cache.default", &[cache, rows, text.start, text.last], &[])
    })
}

/// Where attention is in the model.
struct Place {
    /// The module.
    module: String,
    /// The normalization ahead.
    norm: Option<String>,
}

/// The output of a projection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Query,
    Key,
    Value,
    Output,
}

impl Role {
    /// The projections of attention's input.
    const INPUTS: [Self; 3] = [Self::Query, Self::Key, Self::Value];

    const fn name(self, decoder: &Decoder) -> &'static str {
        let [query, key, value] = decoder.names.inputs;
        match self {
            Self::Query => query,
            Self::Key => key,
            Self::Value => value,
            Self::Output => decoder.names.output,
        }
    }

    const fn heads(self, attention: &Attention) -> usize {
        match self {
            Self::Query | Self::Output => attention.heads,
            Self::Key | Self::Value => attention.key_heads,
        }
    }

    /// The rotated input and output of the projection in a rotated model.
    fn sides(self, norm: Option<&str>) -> Sides<'_> {
        match self {
            Self::Query | Self::Key => Sides::behind(norm),
            Self::Value => Sides { makes: Some(Side::Heads), ..Sides::behind(norm) },
            Self::Output => Sides { reads: Some(Side::Heads), norm: None, makes: Some(Side::Tokens) },
        }
    }

    /// The rows of the projection, as a part of a fused matrix.
    fn part(self, decoder: &Decoder) -> Part {
        let Attention { heads, key_heads, depth, inputs, .. } = decoder.attention;
        let (queries, keys) = (heads * depth, key_heads * depth);
        if self == Self::Query && decoder.attention.is_gated {
            return Part::all(2 * queries);
        }
        match (self, inputs == Inputs::Fused) {
            (Self::Output, _) => Part::all(decoder.width),
            (Self::Query, false) => Part::all(queries),
            (Self::Key | Self::Value, false) => Part::all(keys),
            (Self::Query, true) => Part { first: 0, count: queries, all: queries + 2 * keys },
            (Self::Key, true) => Part { first: queries, count: keys, all: queries + 2 * keys },
            (Self::Value, true) => Part { first: queries + keys, count: keys, all: queries + 2 * keys },
        }
    }
}

/// Queries, keys and values, `[1, count, heads * depth]` each.
fn inputs(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    place: &Place,
    text: &Text,
    input: ValueId,
) -> [(Role, ValueId); 3] {
    if decoder.attention.inputs != Inputs::FusedByHead {
        return Role::INPUTS.map(|role| (role, project(decoder, sketch, weights, place, role, input)));
    }
    let Attention { heads, key_heads, depth, biases, .. } = decoder.attention;
    let (group, module) = (heads / key_heads, format!("{}.{}", place.module, decoder.names.fused_inputs));
    let (part, sides) = (Part::all((heads + 2 * key_heads) * depth), Sides::behind(place.norm.as_deref()));
    sketch.enter(module.as_str());
    let layer = Linear { module: &module, part, columns: decoder.width, sides, has_bias: biases.inputs };
    let all = linear::build(sketch, weights, &layer, input);
    let all = sketch.view(all, &[1, text.count, key_heads, group + 2, depth]);
    let starts = [0, group, group + 1, group + 2];
    let mut ranges = starts.iter().zip(starts.iter().skip(1));
    Role::INPUTS.map(|role| {
        let (start, end) = ranges.next().map_or((0, 0), |(start, end)| (*start, *end));
        let own = sketch.slice(all, 3, start, end);
        (role, sketch.view(own, &[1, text.count, role.heads(&decoder.attention) * depth]))
    })
}

fn project(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    place: &Place,
    role: Role,
    input: ValueId,
) -> ValueId {
    let Attention { heads, depth, inputs, biases, .. } = decoder.attention;
    let is_fused = inputs == Inputs::Fused && role != Role::Output;
    sketch.enter(format!("{}.{}", place.module, role.name(decoder)));
    let name = if is_fused { decoder.names.fused_inputs } else { role.name(decoder) };
    let module = format!("{}.{name}", place.module);
    let columns = if role == Role::Output { heads * depth } else { decoder.width };
    let (part, sides) = (role.part(decoder), role.sides(place.norm.as_deref()));
    let has_bias = match role {
        Role::Output => biases.output,
        Role::Key => biases.inputs && decoder.attention.has_key_bias,
        Role::Query | Role::Value => biases.inputs,
    };
    linear::build(sketch, weights, &Linear { module: &module, part, columns, sides, has_bias }, input)
}
