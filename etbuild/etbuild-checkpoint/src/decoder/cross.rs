//! Cross-attention: keys and values of an encoder's states are state, written once by the encoder's method and read by the methods of
//! the decoder.

use etbuild_ir::{Argument, ValueId};

use super::linear::{self, Linear};
use super::sides::Sides;
use super::weights::Weights;
use crate::constant::Part;
use crate::sketch::Sketch;
use crate::{Attention, Cross, Decoder};

/// Writes the keys and values of all layers, from the states `[1, positions, width]`.
pub fn write(decoder: &Decoder, sketch: &mut Sketch, weights: &mut Weights<'_>, states: ValueId) {
    let Some(cross) = decoder.cross else { return };
    let last = i64::try_from(cross.positions).unwrap_or(i64::MAX) - 1;
    for index in 0..decoder.layers.len() {
        let place = Place { decoder, module: module(decoder, cross, index) };
        let [_, key, value] = decoder.names.inputs;
        for (role, name, has_bias) in
            [(key, "keys", decoder.attention.has_key_bias), (value, "values", decoder.attention.biases.inputs)]
        {
            let rows = place.project(sketch, weights, role, cross.width, has_bias, states);
            let rows = place.split(sketch, rows, cross.positions);
            let ends = [0, last].map(|at| sketch.constant(&weights.integers(&format!("position.{at}"), &[at])));
            let first = weights.memory(cross.positions);
            sketch.update(&format!("{}.{name}", place.module), &first, |sketch, cache| {
                sketch.own("etbuild.write_cache.default", &[cache, rows, ends[0], ends[1]], &[])
            });
        }
    }
}

/// The attention of layer `index`, of `count` tokens `[1, count, width]`, to the keys and values.
pub fn read(
    decoder: &Decoder,
    cross: Cross,
    sketch: &mut Sketch,
    weights: &mut Weights<'_>,
    [index, count]: [usize; 2],
    input: ValueId,
) -> ValueId {
    let place = Place { decoder, module: module(decoder, cross, index) };
    let (Attention { heads, depth, scale, biases, .. }, [query, ..]) = (&decoder.attention, decoder.names.inputs);
    let query = place.project(sketch, weights, query, decoder.width, biases.inputs, input);
    let query = place.split(sketch, query, count);
    sketch.enter(place.module.as_str());
    let first = weights.memory(cross.positions);
    let [keys, values] = ["keys", "values"].map(|name| sketch.state(&format!("{}.{name}", place.module), &first));
    // A row at the last position sees all positions, and rows behind `last` see what `last` sees.
    let last = i64::try_from(cross.positions).unwrap_or(i64::MAX) - 1;
    let [start, last] = [last, 0].map(|at| sketch.constant(&weights.integers(&format!("position.{at}"), &[at])));
    let rest = [Argument::Float(*scale), Argument::Int(0), Argument::Float(0.0), Argument::None, Argument::None];
    let attended = sketch.own("etbuild.attend_cache.default", &[query, keys, values, start, last], &rest);
    let rows = sketch.view(attended, &[1, count, heads * depth]);
    place.project(sketch, weights, decoder.names.output, heads * depth, biases.output, rows)
}

fn module(decoder: &Decoder, cross: Cross, index: usize) -> String {
    format!("{}.{}", decoder.names.layer(index), cross.attention)
}

/// The cross-attention of a layer.
struct Place<'d> {
    decoder: &'d Decoder,
    module: String,
}

impl Place<'_> {
    /// A projection of rows with this number of columns.
    fn project(
        &self,
        sketch: &mut Sketch,
        weights: &mut Weights<'_>,
        role: &str,
        columns: usize,
        has_bias: bool,
        input: ValueId,
    ) -> ValueId {
        let Attention { heads, key_heads, depth, .. } = self.decoder.attention;
        let [query, ..] = self.decoder.names.inputs;
        let rows = match role {
            role if role == query => heads * depth,
            role if role == self.decoder.names.output => self.decoder.width,
            _ => key_heads * depth,
        };
        let module = format!("{}.{role}", self.module);
        sketch.enter(module.as_str());
        let layer = Linear { module: &module, part: Part::all(rows), columns, sides: Sides::default(), has_bias };
        linear::build(sketch, weights, &layer, input)
    }

    /// `[1, count, heads, depth]`.
    fn split(&self, sketch: &mut Sketch, rows: ValueId, count: usize) -> ValueId {
        let depth = self.decoder.attention.depth;
        let heads = sketch.size(rows, 2) / depth.max(1);
        sketch.enter(self.module.as_str());
        sketch.view(rows, &[1, count, heads, depth])
    }
}
