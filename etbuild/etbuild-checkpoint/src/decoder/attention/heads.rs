//! What happens to heads of queries and keys: normalization and rotary position embedding.

use etbuild_ir::{Argument, ValueId};

use super::Role;
use crate::constant::Part;
use crate::decoder::text::Own;
use crate::decoder::weights::Weights;
use crate::sketch::Sketch;
use crate::{Attention, Decoder, HeadNorm, Norm};

/// Queries, keys and values, and the gates of the heads, whose rows are among those of the queries.
pub fn gates(
    decoder: &Decoder,
    sketch: &mut Sketch,
    inputs: [(Role, ValueId); 3],
) -> ([(Role, ValueId); 3], Option<ValueId>) {
    let Attention { heads, depth, is_gated, .. } = decoder.attention;
    let [(Role::Query, both), keys, values] = inputs else { return (inputs, None) };
    if !is_gated {
        return (inputs, None);
    }
    let count = sketch.size(both, 1);
    let apart = sketch.view(both, &[1, count, heads, 2 * depth]);
    let [query, gate] = [0, depth].map(|first| {
        let own = sketch.slice(apart, 3, first, first + depth);
        sketch.view(own, &[1, count, heads * depth])
    });
    ([(Role::Query, query), keys, values], Some(gate))
}

/// The outputs of heads, times the logistic function of a gate, if there is one.
pub fn gated(sketch: &mut Sketch, rows: ValueId, gate: Option<ValueId>) -> ValueId {
    let Some(gate) = gate else { return rows };
    let share = sketch.own("aten.sigmoid.default", &[gate], &[]);
    sketch.multiply(rows, share)
}

/// The name of the normalization of a role's heads, in attention.
const fn name(decoder: &Decoder, role: Role) -> &'static str {
    let [query, key] = decoder.names.head_norms;
    if matches!(role, Role::Query) { query } else { key }
}

/// Normalization of all heads together, `[1, count, heads * depth]`.
pub fn whole_norm(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    attention: &str,
    role: Role,
    heads: ValueId,
) -> ValueId {
    if decoder.attention.head_norm != HeadNorm::Whole || role == Role::Value {
        return heads;
    }
    let module = format!("{attention}.{}", name(decoder, role));
    let size = role.heads(&decoder.attention) * decoder.attention.depth;
    normalize(decoder, sketch, weights, &module, size, heads)
}

/// Normalization of each head, `[1, count, heads, depth]`.
pub fn norm(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    attention: &str,
    role: Role,
    heads: ValueId,
) -> ValueId {
    let (count, depth) = (role.heads(&decoder.attention), decoder.attention.depth);
    let module = format!("{attention}.{}", name(decoder, role));
    let gains = match decoder.attention.head_norm {
        HeadNorm::None | HeadNorm::Whole => return heads,
        HeadNorm::Each | HeadNorm::EachRotated => {
            return normalize(decoder, sketch, weights, &module, depth, heads);
        }
        HeadNorm::Distinct => weights.table(&format!("{module}.weight"), [count, depth]),
        HeadNorm::Listed => {
            let names: Vec<String> = (0..count).map(|head| format!("{module}.norms.{head}.weight")).collect();
            weights.stacked(&format!("{module}.norms"), &names, depth)
        }
    };
    sketch.enter(module);
    let plain = Norm { has_weights: false, has_biases: false, ..decoder.norm };
    let normal = sketch.norm(heads, [None; 2], plain);
    let gains = sketch.constant(&gains);
    sketch.multiply(normal, gains)
}

/// Normalization of the last dimension, of so many elements, with the weights of a module.
fn normalize(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    module: &str,
    size: usize,
    value: ValueId,
) -> ValueId {
    let Norm { has_weights, has_biases, less_one, .. } = decoder.norm;
    let more = if less_one { 1.0 } else { 0.0 };
    sketch.enter(module);
    let mut vector = |is_there: bool, name: &str, more: f32| {
        is_there.then(|| sketch.constant(&weights.vector(&format!("{module}.{name}"), Part::all(size), more)))
    };
    let constants = [vector(has_weights, "weight", more), vector(has_biases, "bias", 0.0)];
    sketch.norm(value, constants, decoder.norm)
}

/// Rotary position embedding of heads.
pub fn rotate(
    decoder: &Decoder,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    rotary: Option<usize>,
    role: Role,
    text: &Own,
    heads: ValueId,
) -> ValueId {
    let Some(index) = rotary else { return heads };
    let is_interleaved = decoder.rotaries.get(index).is_some_and(|rotary| rotary.is_interleaved);
    sketch.enter("model.rotary_emb");
    let temperature = decoder.attention.temperature.filter(|_| role == Role::Query);
    let [cosines, sines] =
        text.tables.unwrap_or_else(|| weights.rotary(index, temperature).map(|table| sketch.constant(&table)));
    let read = [heads, cosines, sines, text.turn, text.last];
    sketch.own("etbuild.rotate.default", &read, &[Argument::Bool(is_interleaved)])
}
