//! What happens to heads of queries, keys and values: gates, normalization and rotary position embedding.

use etbuild_ir::{Argument, ValueId};

use super::{Place, Role};
use crate::constant::Part;
use crate::decoder::parts::Parts;
use crate::decoder::text::Own;
use crate::sketch::Sketch;
use crate::{Attention, HeadNorm};

/// Queries, and the gates of the heads, whose rows are among those of the queries.
pub fn gates(place: &Place<'_>, sketch: &mut Sketch, both: ValueId) -> (ValueId, Option<ValueId>) {
    let Attention { heads, depth, is_gated, .. } = *place.attention;
    if !is_gated {
        return (both, None);
    }
    let count = sketch.size(both, 1);
    let apart = sketch.view(both, &[1, count, heads, 2 * depth]);
    let [query, gate] = [0, depth].map(|first| {
        let own = sketch.slice(apart, 3, first, first + depth);
        sketch.view(own, &[1, count, heads * depth])
    });
    (query, Some(gate))
}

/// The outputs of heads, times the logistic function of a gate, if there is one.
pub fn gated(sketch: &mut Sketch, rows: ValueId, gate: Option<ValueId>) -> ValueId {
    let Some(gate) = gate else { return rows };
    let share = sketch.own("aten.sigmoid.default", &[gate], &[]);
    sketch.multiply(rows, share)
}

/// The normalization of a role's heads.
fn module(place: &Place<'_>, role: Role) -> String {
    let [query, key] = place.decoder.names.head_norms;
    format!("{}.{}", place.module, if role == Role::Query { query } else { key })
}

/// Normalization of all heads together, `[1, count, heads * depth]`.
pub fn whole_norm(place: &Place<'_>, parts: &mut Parts<'_, '_>, role: Role, heads: ValueId) -> ValueId {
    if place.attention.head_norm != HeadNorm::Whole || role == Role::Value {
        return heads;
    }
    let size = role.heads(place.attention) * place.attention.depth;
    normalize(place, parts, &module(place, role), size, heads)
}

/// Normalization of each head, `[1, count, heads, depth]`.
pub fn norm(place: &Place<'_>, parts: &mut Parts<'_, '_>, role: Role, heads: ValueId) -> ValueId {
    let (count, depth) = (role.heads(place.attention), place.attention.depth);
    let module = module(place, role);
    let gains = match place.attention.head_norm {
        HeadNorm::None | HeadNorm::Whole => return heads,
        HeadNorm::Each | HeadNorm::EachRotated => return normalize(place, parts, &module, depth, heads),
        HeadNorm::Distinct => parts.weights.table(&format!("{module}.weight"), [count, depth]),
        HeadNorm::Listed => {
            let names: Vec<String> = (0..count).map(|head| format!("{module}.norms.{head}.weight")).collect();
            parts.weights.stacked(&format!("{module}.norms"), &names, depth)
        }
    };
    parts.sketch.enter(module);
    let normal = plain_norm(place, parts, heads);
    let gains = parts.sketch.constant(&gains);
    parts.sketch.multiply(normal, gains)
}

/// Normalization of each head, `[1, count, heads, depth]`, without weights.
pub fn plain_norm(place: &Place<'_>, parts: &mut Parts<'_, '_>, heads: ValueId) -> ValueId {
    parts.sketch.norm(heads, [None; 2], place.decoder.norm)
}

/// Normalization of the last dimension, of so many elements, with the weights of a module.
fn normalize(place: &Place<'_>, parts: &mut Parts<'_, '_>, module: &str, size: usize, value: ValueId) -> ValueId {
    let (norm, Parts { sketch, weights }) = (place.decoder.norm, parts);
    let more = if norm.less_one { 1.0 } else { 0.0 };
    sketch.enter(module);
    let mut vector = |is_there: bool, name: &str, more: f32| {
        is_there.then(|| sketch.constant(&weights.vector(&format!("{module}.{name}"), Part::all(size), more)))
    };
    let constants = [vector(norm.has_weights, "weight", more), vector(norm.has_biases, "bias", 0.0)];
    sketch.norm(value, constants, norm)
}

/// Rotary position embedding of heads.
pub fn rotate(place: &Place<'_>, parts: &mut Parts<'_, '_>, role: Role, text: &Own, heads: ValueId) -> ValueId {
    let (decoder, Parts { sketch, weights }) = (place.decoder, parts);
    let Some(index) = place.layer.rotary else { return heads };
    let is_interleaved = decoder.rotaries.get(index).is_some_and(|rotary| rotary.is_interleaved);
    sketch.enter("model.rotary_emb");
    let temperature = place.attention.temperature.filter(|_| role == Role::Query);
    let [cosines, sines] =
        text.tables.unwrap_or_else(|| weights.rotary(index, temperature).map(|table| sketch.constant(&table)));
    let read = [heads, cosines, sines, text.turn, text.last];
    sketch.own("etbuild.rotate.default", &read, &[Argument::Bool(is_interleaved)])
}
