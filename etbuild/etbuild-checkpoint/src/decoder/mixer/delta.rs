//! Linear attention by the gated delta rule.

use etbuild_ir::ValueId;

use super::rows::{OverTime, plain_norm};
use crate::constant::Part;
use crate::decoder::parts::Parts;
use crate::decoder::text::Text;
use crate::sketch::Remembered;
use crate::{Delta, DeltaInputs};

/// The epsilon of the length of keys and queries.
const LENGTH_EPSILON: f64 = 1e-6;

/// The linear attention of the layer whose module is `layer`, with norms of this epsilon, of tokens `[1, count, width]`.
pub fn build(
    (delta, epsilon): (Delta, f64),
    parts: &mut Parts<'_, '_>,
    (layer, text): (&str, &Text),
    input: ValueId,
) -> ValueId {
    let place = Place { module: format!("{layer}.{}", delta.module), delta };
    let Delta { heads, depth, activation, .. } = delta;
    let (count, width) = (parts.sketch.size(input, 1), parts.sketch.size(input, 2));
    let Inputs { rows, gate, shares, steps } = place.inputs(parts, width, input);
    let rows = place.convolve(parts, text, rows);
    let made = place.remembered(parts, text, [rows, shares, steps]);
    let normal = parts.gain(&place.within("norm"), depth, epsilon, made);
    let normal = parts.sketch.view(normal, &[1, count, heads * depth]);
    let gate = parts.sketch.activate(gate, activation);
    let gated = parts.sketch.multiply(normal, gate);
    parts.linear(&place.within("out_proj"), gated, [width, heads * depth], false)
}

/// Linear attention and its module.
struct Place {
    module: String,
    delta: Delta,
}

/// The projections of the input: queries, keys and values side by side, `[1, count, channels]`; the gate, `[1, count, heads * depth]`; shares and
/// steps, `[1, count, heads]`.
struct Inputs {
    rows: ValueId,
    gate: ValueId,
    shares: ValueId,
    steps: ValueId,
}

impl Place {
    fn within(&self, name: &str) -> String {
        format!("{}.{name}", self.module)
    }

    /// Ranges of the rows of each head of keys, `[1, count, key heads * size]` each.
    fn by_head<const N: usize>(&self, parts: &mut Parts<'_, '_>, all: ValueId, sizes: [usize; N]) -> [ValueId; N] {
        let (heads, count) = (self.delta.key_heads, parts.sketch.size(all, 1));
        let apart = parts.sketch.view(all, &[1, count, heads, sizes.iter().sum()]);
        let mut first = 0;
        sizes.map(|size| {
            first += size;
            let own = parts.sketch.slice(apart, 3, first - size, first);
            parts.sketch.view(own, &[1, count, heads * size])
        })
    }

    fn inputs(&self, parts: &mut Parts<'_, '_>, columns: usize, input: ValueId) -> Inputs {
        let [rows, gate] = match self.delta.inputs {
            DeltaInputs::FusedByHead => self.fused_rows(parts, columns, input),
            DeltaInputs::SeparateRows | DeltaInputs::Separate => {
                let Delta { heads, key_heads, depth, width, .. } = self.delta;
                let (keys, values) = (key_heads * width, heads * depth);
                let rows = parts.linear(&self.within("in_proj_qkv"), input, [2 * keys + values, columns], false);
                [rows, parts.linear(&self.within("in_proj_z"), input, [values, columns], false)]
            }
        };
        let [shares, steps] = match self.delta.inputs {
            DeltaInputs::FusedByHead | DeltaInputs::SeparateRows => self.fused_shares(parts, columns, input),
            DeltaInputs::Separate => ["in_proj_b", "in_proj_a"]
                .map(|name| parts.linear(&self.within(name), input, [self.delta.heads, columns], false)),
        };
        parts.sketch.enter(self.module.as_str());
        let shares = parts.sketch.own("aten.sigmoid.default", &[shares], &[]);
        Inputs { rows, gate, shares, steps }
    }

    /// Queries, keys and values, and the gate, from a matrix in which the rows of each head of keys are neighbours.
    fn fused_rows(&self, parts: &mut Parts<'_, '_>, columns: usize, input: ValueId) -> [ValueId; 2] {
        let Delta { heads, key_heads, depth, width, .. } = self.delta;
        let (keys, values, group) = (key_heads * width, heads * depth, heads / key_heads);
        let all = parts.linear(&self.within("in_proj_qkvz"), input, [2 * keys + 2 * values, columns], false);
        let [query, key, value, gate] = self.by_head(parts, all, [width, width, group * depth, group * depth]);
        [parts.sketch.join(&[query, key, value], 2), gate]
    }

    /// Shares and steps from such a matrix.
    fn fused_shares(&self, parts: &mut Parts<'_, '_>, columns: usize, input: ValueId) -> [ValueId; 2] {
        let Delta { heads, key_heads, .. } = self.delta;
        let both = parts.linear(&self.within("in_proj_ba"), input, [2 * heads, columns], false);
        self.by_head(parts, both, [heads / key_heads; 2])
    }

    fn convolve(&self, parts: &mut Parts<'_, '_>, text: &Text, rows: ValueId) -> ValueId {
        let (module, channels) = (self.within("conv1d"), parts.sketch.size(rows, 2));
        let over_time = OverTime::of(parts, &module, [channels, self.delta.kernel], false);
        parts.sketch.enter(module);
        let rows = over_time.convolve(parts, text, rows);
        parts.sketch.activate(rows, self.delta.activation)
    }

    /// The delta rule of all texts, `[1, rows, heads, depth]`, of rows, shares and steps.
    fn remembered(&self, parts: &mut Parts<'_, '_>, text: &Text, inputs: [ValueId; 3]) -> ValueId {
        let Delta { heads, key_heads, depth, width, .. } = self.delta;
        parts.sketch.enter(self.module.as_str());
        let rates = match self.delta.stores_rates {
            true => parts.weights.vector(&self.within("A_log"), Part::all(heads), 0.0),
            false => parts.weights.rates(&self.within("A_log"), heads, None),
        };
        let biases = parts.weights.vector(&self.within("dt_bias"), Part::all(heads), 0.0);
        let first = parts.weights.recurrent([heads, depth, width]);
        let [rates, biases] = [rates, biases].map(|constant| parts.sketch.constant(&constant));
        let rates = parts.sketch.view(rates, &[heads]);
        text.each(parts, inputs, |parts, own, [rows, shares, steps]| {
            let (count, keys) = (parts.sketch.size(rows, 1), key_heads * width);
            let mut slice = |first: usize, heads: usize, size: usize| {
                let own = parts.sketch.slice(rows, 2, first, first + heads * size);
                parts.sketch.view(own, &[1, count, heads, size])
            };
            let [query, key] = [slice(0, key_heads, width), slice(keys, key_heads, width)];
            let values = slice(2 * keys, heads, depth);
            let repeated = if self.delta.is_tiled { heads / key_heads } else { 1 };
            // A query is divided by the root of its elements once more, as in other attention.
            let root = (width as f64).powf(-0.5);
            let [queries, keys] = [(query, root * root), (key, root)].map(|(vector, factor)| {
                // A mean in place of a sum makes vectors of the length of that root.
                let normal = plain_norm(parts, LENGTH_EPSILON / width as f64, vector);
                let scaled = parts.sketch.scale(normal, factor);
                if repeated > 1 { parts.sketch.join(&vec![scaled; repeated], 2) } else { scaled }
            });
            let remembered = Remembered { values, keys, queries, steps, shares, rates, biases };
            let name = own.name(&self.within("state"));
            parts.sketch.remember((&name, &first), &remembered, [own.start, own.read])
        })
    }
}
