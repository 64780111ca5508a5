//! What happens to heads of queries and keys: normalization and rotary position embedding.

use etbuild_ir::{Argument, ValueId};

use super::{Own, Role};
use crate::constant::Part;
use crate::decoder::weights::Weights;
use crate::sketch::Sketch;
use crate::{Decoder, HeadNorm, Norm};

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
