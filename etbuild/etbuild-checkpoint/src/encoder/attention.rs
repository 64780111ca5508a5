//! Attention of an encoder: its biases, windows and RoPE, for texts of any length up to the most tokens.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use super::Encoder;
use super::program::Making;
use crate::constant::{Constant, Part, vector_of};
use crate::{Relative, Rotary, Scaling, rotary};

impl Making<'_> {
    /// The attention of layer `index` to its input, `[1, n, width]`, as `[1, n, heads * depth]`, without the projection behind.
    pub(super) fn attention(&mut self, index: usize, module: &dyn Fn(&str) -> String, input: ValueId) -> ValueId {
        let (heads, scale) = (self.encoder.heads, self.encoder.scale);
        let reach = self.encoder.reaches.get(index).copied().unwrap_or_default();
        let [query, key, value] = self.projections(module, input).map(|value| self.sketch.split(value, heads));
        let [query, key] = match reach.theta {
            Some(theta) => [query, key].map(|value| self.rotate(value, theta)),
            None => [query, key],
        };
        let mask = match (reach.window, self.encoder.relative) {
            (Some(window), _) => Some(self.window(window)),
            (None, Some(relative)) => Some(self.relative(relative)),
            (None, None) => None,
        };
        self.sketch.enter(module(self.encoder.names.query));
        self.sketch.attend([query, key, value], mask, scale)
    }

    /// Queries, keys and values, `[1, n, heads * depth]` each.
    fn projections(&mut self, module: &dyn Fn(&str) -> String, input: ValueId) -> [ValueId; 3] {
        let Encoder { names, width, block, .. } = *self.encoder;
        let inner = self.encoder.attended();
        if !block.is_joined {
            return [names.query, names.key, names.value]
                .map(|name| self.linear(&module(name), input, [inner, width], block.attention_biases));
        }
        let joined = self.linear(&module(names.query), input, [3 * inner, width], block.attention_biases);
        [0, 1, 2].map(|part| self.sketch.slice(joined, 2, part * inner, (part + 1) * inner))
    }

    /// RoPE on `[1, heads, n, depth]`: an element and the element half a head behind turn by an angle that grows with the position.
    fn rotate(&mut self, value: ValueId, theta: f64) -> ValueId {
        let half = self.encoder.depth / 2;
        self.sketch.enter("rotary");
        let [cosines, sines] = self.tables(theta);
        let (near, far) = (self.sketch.slice(value, 3, 0, half), self.sketch.slice(value, 3, half, 2 * half));
        let far = self.sketch.scale(far, -1.0);
        let turned = self.sketch.join(&[far, near], 3);
        let (kept, turned) = (self.sketch.multiply(value, cosines), self.sketch.multiply(turned, sines));
        self.sketch.add(kept, turned)
    }

    /// The cosines and the sines of all positions of the text, `[n, depth]`.
    fn tables(&mut self, theta: f64) -> [ValueId; 2] {
        let (pairs, most) = (self.encoder.depth / 2, self.encoder.max_tokens);
        let rotary = Rotary { theta, pairs, is_interleaved: false, sections: None, scaling: Scaling::None };
        let tables = rotary::tables(&rotary, u32::try_from(most).unwrap_or(u32::MAX));
        let mut names = ["cos", "sin"].into_iter();
        tables.map(|table| {
            let name = format!("rotary.{}.{theta}", names.next().unwrap_or_default());
            self.once(&name, |making| {
                let twice: Vec<f32> = table.chunks(pairs.max(1)).flat_map(|row| [row, row].concat()).collect();
                let (spec, data) = vector_of(&[most, 2 * pairs], &twice);
                let table = making.sketch.constant(&Constant::plain(&name, spec, data));
                making.rows(table, 0)
            })
        })
    }

    /// The mask of attention within a window, `[n, n]`: true where the positions of query and key differ by at most `window`.
    fn window(&mut self, window: usize) -> ValueId {
        let most = self.encoder.max_tokens as i32;
        self.once(&format!("window.{window}"), |making| {
            making.sketch.enter("window");
            let positions: Vec<f32> = (0..most).map(|position| position as f32).collect();
            let (spec, data) = vector_of(&[most as usize], &positions);
            let positions = making.sketch.constant(&Constant::plain("positions", spec, data));
            let columns = making.rows(positions, 0);
            let shape = vec![Argument::Value(columns), Argument::Ints(vec![-1, 1])];
            let rows = making.sketch.call("aten.view.default", shape, floats([most, 1], [1, 1]));
            let pair = vec![Argument::Value(rows), Argument::Value(columns), Argument::Int(1)];
            let apart = making.sketch.call("aten.sub.Tensor", pair, floats([most, most], [1, 1]));
            let apart = making.sketch.own("aten.abs.default", &[apart], &[]);
            let near = TensorSpec::contiguous(ScalarType::Bool, [most, most]).with_least([1, 1]);
            let limit = vec![Argument::Value(apart), Argument::Int(window as i64)];
            making.sketch.call("aten.le.Scalar", limit, near)
        })
    }

    /// The biases of the scores by distance, `[1, heads, n, n]`.
    fn relative(&mut self, relative: Relative) -> ValueId {
        self.once(relative.table, |making| {
            making.sketch.enter(relative.table.trim_end_matches(".weight"));
            let table = making.constants.matrix(relative.table, Part::all(relative.buckets), making.encoder.heads);
            let (table, most) = (making.sketch.floats(&table), making.encoder.max_tokens);
            making.sketch.relative_biases(table, relative, making.end, most)
        })
    }
}

fn floats<const N: usize>(most: [i32; N], least: [i32; N]) -> TensorSpec {
    TensorSpec::contiguous(ScalarType::Float, most).with_least(least)
}
