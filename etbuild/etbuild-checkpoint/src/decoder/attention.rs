//! Attention of a piece of text to the piece and to the KV cache of the text before.

use etbuild_ir::{Argument, ValueId};

use super::linear::{self, Linear};
use super::sides::{Side, Sides};
use super::sketch::Sketch;
use super::weights::{Part, Weights};
use crate::{Attention, Biases, Decoder, HeadNorm};

/// The tokens that a method is given.
pub struct Text {
    /// The position of the first.
    pub start: ValueId,
    /// Which is the last.
    pub last: ValueId,
    /// The capacity.
    pub count: usize,
}

/// The attention of layer `index`, of tokens `[1, count, width]`.
pub fn build(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    index: usize,
    text: &Text,
    input: ValueId,
) -> ValueId {
    let Some(layer) = decoder.layers.get(index) else { return input };
    let (module, attention) = (format!("model.layers.{index}.self_attn"), &decoder.attention);
    let heads = |sketch: &mut Sketch, weights: &mut Weights<'_>, role: Role| {
        let projected = project(decoder, sketch, weights, &module, role, input);
        let shaped = sketch.view(projected, &[1, text.count, role.heads(attention), attention.depth]);
        if role == Role::Value {
            return shaped;
        }
        let normal = head_norm(decoder, sketch, weights, &module, role, shaped);
        rotate(sketch, weights, layer.rotary, text, normal)
    };
    let [query, key, value] = [Role::Query, Role::Key, Role::Value].map(|role| heads(sketch, weights, role));
    sketch.enter(module.as_str());
    let first = weights.cache(layer.window);
    let keep = |sketch: &mut Sketch, name: &str, rows: ValueId| {
        sketch.update(&format!("{module}.{name}"), &first, |sketch, cache| {
            sketch.own("etbuild.write_cache.default", &[cache, rows, text.start, text.last], &[])
        })
    };
    let (keys, values) = (keep(sketch, "keys", key), keep(sketch, "values", value));
    let rest = [
        Argument::Float(attention.scale),
        Argument::Int(layer.window.map_or(0, |window| i64::try_from(window).unwrap_or(i64::MAX))),
        Argument::Float(attention.cap.unwrap_or(0.0)),
    ];
    let read = [query, keys, values, text.start, text.last];
    let attended = sketch.own("etbuild.attend_cache.default", &read, &rest);
    let rows = sketch.view(attended, &[1, text.count, attention.heads * attention.depth]);
    project(decoder, sketch, weights, &module, Role::Output, rows)
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
    const fn name(self) -> &'static str {
        match self {
            Self::Query => "q_proj",
            Self::Key => "k_proj",
            Self::Value => "v_proj",
            Self::Output => "o_proj",
        }
    }

    const fn heads(self, attention: &Attention) -> usize {
        match self {
            Self::Query | Self::Output => attention.heads,
            Self::Key | Self::Value => attention.key_heads,
        }
    }

    /// The rotated input and output of the projection in a rotated model.
    const fn sides(self, norm: &str) -> Sides<'_> {
        match self {
            Self::Query | Self::Key => Sides::behind(norm),
            Self::Value => Sides { makes: Some(Side::Heads), ..Sides::behind(norm) },
            Self::Output => Sides { reads: Some(Side::Heads), norm: None, makes: Some(Side::Tokens) },
        }
    }

    /// The rows of the projection, as a part of a fused matrix.
    const fn part(self, decoder: &Decoder) -> Part {
        let Attention { heads, key_heads, depth, fused, .. } = decoder.attention;
        let (queries, keys) = (heads * depth, key_heads * depth);
        match (self, fused) {
            (Self::Output, _) => Part::all(decoder.width),
            (Self::Query, false) => Part::all(queries),
            (Self::Key | Self::Value, false) => Part::all(keys),
            (Self::Query, true) => Part { first: 0, count: queries, all: queries + 2 * keys },
            (Self::Key, true) => Part { first: queries, count: keys, all: queries + 2 * keys },
            (Self::Value, true) => Part { first: queries + keys, count: keys, all: queries + 2 * keys },
        }
    }
}

fn project(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    attention: &str,
    role: Role,
    input: ValueId,
) -> ValueId {
    let fused = decoder.attention.fused && role != Role::Output;
    sketch.enter(format!("{attention}.{}", role.name()));
    let module = format!("{attention}.{}", if fused { "qkv_proj" } else { role.name() });
    let columns = match role {
        Role::Output => decoder.attention.heads * decoder.attention.depth,
        _ => decoder.width,
    };
    let part = role.part(decoder);
    let norm = format!("{}.input_layernorm", attention.trim_end_matches(".self_attn"));
    let sides = role.sides(&norm);
    let has_bias = match decoder.attention.biases {
        Biases::None => false,
        Biases::Inputs => role != Role::Output,
        Biases::All => true,
    };
    linear::build(sketch, weights, &Linear { module: &module, part, columns, sides, has_bias }, input)
}

fn head_norm(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    attention: &str,
    role: Role,
    heads: ValueId,
) -> ValueId {
    if decoder.attention.head_norm == HeadNorm::None {
        return heads;
    }
    let module = format!("{attention}.{}", if role == Role::Query { "q_norm" } else { "k_norm" });
    let more = if decoder.norm.less_one { 1.0 } else { 0.0 };
    let weight = weights.vector(&format!("{module}.weight"), Part::all(decoder.attention.depth), more);
    sketch.enter(module);
    let weight = sketch.constant(&weight);
    sketch.norm(heads, weight, decoder.norm)
}

fn rotate(
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    rotary: Option<usize>,
    text: &Text,
    heads: ValueId,
) -> ValueId {
    let Some(rotary) = rotary else { return heads };
    sketch.enter("model.rotary_emb");
    let [cosines, sines] = weights.rotary(rotary).map(|table| sketch.constant(&table));
    sketch.own("etbuild.rotate.default", &[heads, cosines, sines, text.start, text.last], &[])
}
