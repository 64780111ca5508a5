//! Attention of a piece of text to the piece and to the KV cache of the text before.

mod heads;
mod latent;

use etbuild_ir::{Argument, ValueId};

use super::linear::{self, Linear};
use super::parts::Parts;
use super::sides::{Side, Sides};
use super::text::{Own, Text};
use crate::constant::Part;
use crate::names::norm_within;
use crate::{Attention, Decoder, HeadNorm, Inputs, Layer};

/// The attention of layer `index`, of tokens `[1, count, width]`.
pub fn build(decoder: &Decoder, parts: &mut Parts<'_, '_>, index: usize, text: &Text, input: ValueId) -> ValueId {
    let Some(layer) = decoder.layers.get(index) else { return input };
    let place = Place::new(decoder, index, layer);
    if let Some(latent) = place.attention.latent {
        return latent::build(&place, latent, parts, text, input);
    }
    let (query, own) = inputs(&place, parts, text, input);
    let (query, gate) = heads::gates(&place, parts.sketch, query);
    let query = shaped(&place, parts, text, Role::Query, query);
    let rows = match own {
        Some([key, value]) => {
            let key = shaped(&place, parts, text, Role::Key, key);
            let value = shaped(&place, parts, text, Role::Value, value);
            text.each(parts, [query, key, value], |parts, own, [query, key, value]| {
                let query = turned(&place, parts, Role::Query, own, query);
                let caches = written(&place, parts, own, [key, value]);
                attend(&place, parts, own, query, caches)
            })
        }
        None => text.each(parts, [query], |parts, own, [query]| {
            let query = turned(&place, parts, Role::Query, own, query);
            let caches = ["keys", "values"].map(|name| parts.sketch.marked(&own.name(&place.cache(name))));
            attend(&place, parts, own, query, caches.map(|cache| cache.unwrap_or(query)))
        }),
    };
    let rows = parts.sketch.view(rows, &[1, text.count, place.attention.heads * place.attention.depth]);
    let rows = heads::gated(parts.sketch, rows, gate);
    project(&place, parts, Role::Output, rows)
}

/// Heads of a projection, `[1, count, heads, depth]`.
fn shaped(place: &Place<'_>, parts: &mut Parts<'_, '_>, text: &Text, role: Role, projected: ValueId) -> ValueId {
    let whole = heads::whole_norm(place, parts, role, projected);
    let clipped = place.attention.clip.map_or(whole, |most| parts.sketch.clip(whole, most));
    parts.sketch.view(clipped, &[1, text.count, role.heads(place.attention), place.attention.depth])
}

/// Heads of queries or keys, normalized, with rotary position embedding.
fn turned(place: &Place<'_>, parts: &mut Parts<'_, '_>, role: Role, text: &Own, shaped: ValueId) -> ValueId {
    let is_late = place.attention.head_norm == HeadNorm::EachRotated;
    let early = if is_late { shaped } else { heads::norm(place, parts, role, shaped) };
    let rotated = heads::rotate(place, parts, role, text, early);
    if is_late { heads::norm(place, parts, role, rotated) } else { rotated }
}

/// The KV caches of a text, with the keys and the values of its tokens.
fn written(place: &Place<'_>, parts: &mut Parts<'_, '_>, text: &Own, [key, value]: [ValueId; 2]) -> [ValueId; 2] {
    let key = turned(place, parts, Role::Key, text, key);
    parts.sketch.enter(place.module.as_str());
    let value = if place.attention.norms_values { heads::plain_norm(place, parts, value) } else { value };
    [keep(place, parts, "keys", text, key), keep(place, parts, "values", text, value)]
}

/// The attention of a text, `[1, count, heads, depth]`, from queries of this shape, to keys and values in caches.
fn attend(
    place: &Place<'_>,
    parts: &mut Parts<'_, '_>,
    text: &Own,
    query: ValueId,
    [keys, values]: [ValueId; 2],
) -> ValueId {
    let (attention, window, Parts { sketch, weights }) = (place.attention, place.layer.window, parts);
    sketch.enter(place.module.as_str());
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
    let is_mutual = text.mutual.is_in(window);
    let operator = if is_mutual { "etbuild.attend_block.default" } else { "etbuild.attend_cache.default" };
    sketch.own(operator, &read, &rest)
}

/// The KV cache of this name in a layer, with the rows of a text.
fn keep(place: &Place<'_>, parts: &mut Parts<'_, '_>, name: &str, text: &Own, rows: ValueId) -> ValueId {
    let Attention { key_heads, depth, .. } = *place.attention;
    let first = parts.weights.cache(place.layer.window, [key_heads, depth]);
    parts.sketch.update(&text.name(&format!("{}.{name}", place.module)), &first, |sketch, cache| {
        sketch.own("etbuild.write_cache.default", &[cache, rows, text.start, text.last], &[])
    })
}

/// Attention and its place in the model.
struct Place<'d> {
    decoder: &'d Decoder,
    layer: &'d Layer,
    attention: &'d Attention,
    /// The module.
    module: String,
    /// The normalization ahead.
    norm: Option<String>,
}

impl<'d> Place<'d> {
    fn new(decoder: &'d Decoder, index: usize, layer: &'d Layer) -> Self {
        let within = decoder.names.layer(index);
        let norm = norm_within(&within, decoder.norm_places.before_attention);
        let module = format!("{within}.{}", decoder.names.attention);
        Self { decoder, layer, attention: decoder.attention_of(layer), module, norm }
    }

    /// The name of the KV cache that the layer reads.
    fn cache(&self, name: &str) -> String {
        let names = &self.decoder.names;
        let of_layer = |index| format!("{}.{}.{name}", names.layer(index), names.attention);
        self.layer.shared_cache.map_or_else(|| format!("{}.{name}", self.module), of_layer)
    }
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
    fn part(self, place: &Place<'_>) -> Part {
        let Attention { heads, key_heads, depth, inputs, is_gated, .. } = *place.attention;
        let (queries, keys) = (heads * depth, key_heads * depth);
        if self == Self::Query && is_gated {
            return Part::all(2 * queries);
        }
        match (self, inputs == Inputs::Fused) {
            (Self::Output, _) => Part::all(place.decoder.width),
            (Self::Query, false) => Part::all(queries),
            (Self::Key | Self::Value, false) => Part::all(keys),
            (Self::Query, true) => Part { first: 0, count: queries, all: queries + 2 * keys },
            (Self::Key, true) => Part { first: queries, count: keys, all: queries + 2 * keys },
            (Self::Value, true) => Part { first: queries + keys, count: keys, all: queries + 2 * keys },
        }
    }
}

/// Queries, `[1, count, heads * depth]`; keys and values, `[1, count, key heads * depth]` each, of a layer with a KV cache of its own.
fn inputs(
    place: &Place<'_>,
    parts: &mut Parts<'_, '_>,
    text: &Text,
    input: ValueId,
) -> (ValueId, Option<[ValueId; 2]>) {
    if place.attention.inputs == Inputs::FusedByHead {
        let [query, key, value] = fused_by_head(place, parts, text, input);
        return (query, Some([key, value]));
    }
    let query = project(place, parts, Role::Query, input);
    if place.layer.shared_cache.is_some() {
        return (query, None);
    }
    let key = project(place, parts, Role::Key, input);
    let value = if place.attention.values_are_keys { key } else { project(place, parts, Role::Value, input) };
    (query, Some([key, value]))
}

/// Queries, keys and values from one matrix, in which the rows of each head of keys are neighbours.
fn fused_by_head(place: &Place<'_>, parts: &mut Parts<'_, '_>, text: &Text, input: ValueId) -> [ValueId; 3] {
    let Attention { heads, key_heads, depth, biases, .. } = *place.attention;
    let (group, module) = (heads / key_heads, format!("{}.{}", place.module, place.decoder.names.fused_inputs));
    let (part, sides) = (Part::all((heads + 2 * key_heads) * depth), Sides::behind(place.norm.as_deref()));
    let Parts { sketch, weights } = parts;
    sketch.enter(module.as_str());
    let layer = Linear { module: &module, part, columns: place.decoder.width, sides, has_bias: biases.inputs };
    let all = linear::build(sketch, weights, &layer, input);
    let all = sketch.view(all, &[1, text.count, key_heads, group + 2, depth]);
    let starts = [0, group, group + 1, group + 2];
    let mut ranges = starts.iter().zip(starts.iter().skip(1));
    Role::INPUTS.map(|role| {
        let (start, end) = ranges.next().map_or((0, 0), |(start, end)| (*start, *end));
        let own = sketch.slice(all, 3, start, end);
        sketch.view(own, &[1, text.count, role.heads(place.attention) * depth])
    })
}

fn project(place: &Place<'_>, parts: &mut Parts<'_, '_>, role: Role, input: ValueId) -> ValueId {
    let Attention { heads, depth, inputs, biases, has_key_bias, .. } = *place.attention;
    let decoder = place.decoder;
    let is_fused = inputs == Inputs::Fused && role != Role::Output;
    parts.sketch.enter(format!("{}.{}", place.module, role.name(decoder)));
    let name = if is_fused { decoder.names.fused_inputs } else { role.name(decoder) };
    let module = format!("{}.{name}", place.module);
    let columns = if role == Role::Output { heads * depth } else { decoder.width };
    let (part, sides) = (role.part(place), role.sides(place.norm.as_deref()));
    let has_bias = match role {
        Role::Output => biases.output,
        Role::Key => biases.inputs && has_key_bias,
        Role::Query | Role::Value => biases.inputs,
    };
    linear::build(parts.sketch, parts.weights, &Linear { module: &module, part, columns, sides, has_bias }, input)
}
