//! Cross-attention: keys and values of an encoder's states are state, written once by the encoder's method and read by the methods of
//! the decoder.

use et_core::ScalarType;
use etbuild_ir::{Argument, ConstantData, ValueId};

use super::parts::Parts;
use super::weights::Weights;
use crate::constant::{Constant, spec};
use crate::sketch::Sketch;
use crate::{Attention, Cross, Decoder};

/// The positions of states: of the first, and the index of the last.
#[derive(Clone, Copy)]
pub struct Ends {
    pub start: ValueId,
    pub last: ValueId,
}

/// The ends of states that fill all positions.
pub fn whole(cross: Cross, parts: &mut Parts<'_, '_>) -> Ends {
    let Parts { sketch, weights } = parts;
    let mut at = |position: i64| sketch.constant(&weights.integers(&format!("position.{position}"), &[position]));
    Ends { start: at(0), last: at(last(cross)) }
}

/// The state with the index of the last state, where a text encoder makes as many as the text has tokens.
const LAST: &str = "text_encoder.last";

/// Writes the index of the last state.
pub fn write_last(sketch: &mut Sketch, weights: &mut Weights<'_>, make: impl FnOnce(&mut Sketch) -> ValueId) {
    let first = no_last(weights);
    sketch.update(LAST, &first, |sketch, _| make(sketch));
}

fn read_last(sketch: &mut Sketch, weights: &mut Weights<'_>) -> ValueId {
    let first = no_last(weights);
    sketch.state(LAST, &first)
}

fn no_last(weights: &mut Weights<'_>) -> Constant {
    let data = || ConstantData::new(vec![0; ScalarType::Long.size()]);
    weights.once(LAST.to_owned(), |_, _| Ok((spec(ScalarType::Long, &[1]), data())))
}

/// Writes the keys and values of all layers, from the states `[1, n, width]`.
pub fn write(decoder: &Decoder, parts: &mut Parts<'_, '_>, states: ValueId, ends: Ends) {
    let Some(cross) = decoder.cross else { return };
    let Attention { key_heads, depth, biases, has_key_bias, .. } = decoder.attention;
    let [_, key, value] = decoder.names.inputs;
    for index in 0..decoder.layers.len() {
        let module = module(decoder, cross, index);
        for (projection, name, has_bias) in
            [(key, "keys", biases.inputs && has_key_bias), (value, "values", biases.inputs)]
        {
            let sizes = [key_heads * depth, cross.width];
            let rows = parts.linear(&format!("{module}.{projection}"), states, sizes, has_bias);
            let Parts { sketch, weights } = &mut *parts;
            sketch.enter(module.as_str());
            let rows = match decoder.source {
                Some(_) => sketch.apart(rows, key_heads),
                None => sketch.view(rows, &[1, cross.positions, key_heads, depth]),
            };
            let first = weights.memory(slots(decoder, cross, weights), [key_heads, depth]);
            sketch.update(&format!("{module}.{name}"), &first, |sketch, cache| {
                sketch.own("etbuild.write_cache.default", &[cache, rows, ends.start, ends.last], &[])
            });
        }
    }
}

/// The attention of layer `index`, of `count` tokens `[1, count, width]`, to the keys and values.
pub fn read(
    decoder: &Decoder,
    cross: Cross,
    parts: &mut Parts<'_, '_>,
    [index, count]: [usize; 2],
    input: ValueId,
) -> ValueId {
    let Attention { heads, key_heads, depth, scale, biases, .. } = decoder.attention;
    let ([projection, ..], module) = (decoder.names.inputs, module(decoder, cross, index));
    let sizes = [heads * depth, decoder.width];
    let query = parts.linear(&format!("{module}.{projection}"), input, sizes, biases.inputs);
    let Parts { sketch, weights } = &mut *parts;
    sketch.enter(module.as_str());
    let query = sketch.view(query, &[1, count, heads, depth]);
    sketch.mark(module.clone(), query);
    let first = weights.memory(slots(decoder, cross, weights), [key_heads, depth]);
    let [keys, values] = ["keys", "values"].map(|name| sketch.state(&format!("{module}.{name}"), &first));
    // A row at the last position sees all positions, and rows behind `last` see what `last` sees.
    let mut at = |position: i64| sketch.constant(&weights.integers(&format!("position.{position}"), &[position]));
    let (start, last) = match decoder.source {
        None => (at(last(cross)), at(0)),
        Some(_) => {
            let zero = at(0);
            (read_last(sketch, weights), zero)
        }
    };
    let (plain, all) = (Argument::None, Argument::Int(0));
    let rest = [Argument::Float(scale), all.clone(), Argument::Float(0.0), plain.clone(), plain, all];
    let attended = sketch.own("etbuild.attend_cache.default", &[query, keys, values, start, last], &rest);
    let rows = sketch.view(attended, &[1, count, heads * depth]);
    let sizes = [decoder.width, heads * depth];
    parts.linear(&format!("{module}.{}", decoder.names.output), rows, sizes, biases.output)
}

pub fn module(decoder: &Decoder, cross: Cross, index: usize) -> String {
    format!("{}.{}", decoder.names.layer(index), cross.attention)
}

/// The most states: a text encoder reads texts as long as the context.
pub fn slots(decoder: &Decoder, cross: Cross, weights: &Weights<'_>) -> usize {
    decoder.source.map_or(cross.positions, |_| weights.context as usize)
}

/// The last position of the states.
fn last(cross: Cross) -> i64 {
    i64::try_from(cross.positions).unwrap_or(i64::MAX) - 1
}
