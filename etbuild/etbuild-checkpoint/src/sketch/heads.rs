//! Attention of all tokens to all tokens.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use super::Sketch;

impl Sketch {
    /// Attention (Vaswani et al. 2017) of queries to keys and values, `[1, n, width]` each, with scores over the root of a head's
    /// elements.
    pub fn attention(&mut self, inputs: [ValueId; 3], heads: usize) -> ValueId {
        let split = inputs.map(|value| self.split(value, heads));
        self.attend(split, None, None)
    }

    /// The same with other scores: products times `scale`, and `biases`, `[1, heads, n, n]`, added.
    pub fn biased_attention(&mut self, inputs: [ValueId; 3], heads: usize, biases: ValueId, scale: f64) -> ValueId {
        let split = inputs.map(|value| self.split(value, heads));
        self.attend(split, Some(biases), Some(scale))
    }

    /// The attention of queries to keys and values, `[1, heads, n, depth]` each, as `[1, n, width]`. The mask is added to the scores, or says
    /// which scores count, and is expanded to `[1, heads, n, n]`.
    pub fn attend(&mut self, inputs: [ValueId; 3], mask: Option<ValueId>, scale: Option<f64>) -> ValueId {
        let (mask, scale) =
            (mask.map_or(Argument::None, Argument::Value), scale.map_or(Argument::None, Argument::Float));
        let more = [mask, Argument::Float(0.0), Argument::Bool(false), scale, Argument::Bool(false)];
        let attended = self.own("aten.scaled_dot_product_attention.default", &inputs, &more);
        self.merge(attended)
    }

    /// Attention of rotated queries and keys, and values, `[1, n, heads, depth]` each, within segments, whose `ends` are `[n]`, with scores
    /// times `scale`; the result is `[1, n, width]`.
    pub fn attention_within(&mut self, inputs: [ValueId; 3], ends: ValueId, scale: f64) -> ValueId {
        let scale = Argument::Float(scale);
        let [query, keys, values] = inputs;
        let attended = self.own("etbuild.attend_segments.default", &[query, keys, values, ends], &[scale]);
        self.together(attended)
    }

    /// `[1, n, width]` as `[1, heads, n, depth]`.
    pub fn split(&mut self, value: ValueId, heads: usize) -> ValueId {
        let apart = self.apart(value, heads);
        let ([n, least], depth) = (self.range(apart, 1), self.last(apart) as i32);
        self.transpose(apart, floats([1, heads as i32, n, depth], [1, heads as i32, least, depth]))
    }

    /// `[1, n, width]` as `[1, n, heads, depth]`.
    pub fn apart(&mut self, value: ValueId, heads: usize) -> ValueId {
        let ([n, least], heads, depth) = (self.range(value, 1), heads as i32, (self.last(value) / heads.max(1)) as i32);
        let apart = floats([1, n, heads, depth], [1, least, heads, depth]);
        let shape = Argument::Ints(vec![1, -1, i64::from(heads), i64::from(depth)]);
        self.call("aten.view.default", vec![Argument::Value(value), shape], apart)
    }

    /// `[1, heads, n, depth]` as `[1, n, width]`.
    fn merge(&mut self, value: ValueId) -> ValueId {
        let ([n, least], heads, depth) = (self.range(value, 2), self.size(value, 1) as i32, self.last(value) as i32);
        let apart = self.transpose(value, floats([1, n, heads, depth], [1, least, heads, depth]));
        self.together(apart)
    }

    /// `[1, n, heads, depth]` as `[1, n, width]`.
    fn together(&mut self, value: ValueId) -> ValueId {
        let ([n, least], width) = (self.range(value, 1), (self.size(value, 2) * self.last(value)) as i32);
        let shape = Argument::Ints(vec![1, -1, i64::from(width)]);
        self.call("aten.view.default", vec![Argument::Value(value), shape], floats([1, n, width], [1, least, width]))
    }

    /// Concatenates `count` neighbouring rows of `[1, n, width]` to a row of `[1, n / count, count * width]`.
    pub fn grouped(&mut self, value: ValueId, count: usize) -> ValueId {
        let ([n, least], width) = (self.range(value, 1), (self.last(value) * count) as i32);
        let groups = [n, least].map(|rows| rows / count.max(1) as i32);
        let shape = Argument::Ints(vec![1, -1, i64::from(width)]);
        let output = floats([1, groups[0], width], [1, groups[1], width]);
        self.call("aten.view.default", vec![Argument::Value(value), shape], output)
    }

    /// The value with the second and the third dimension exchanged, of the shape of `output`.
    pub fn transpose(&mut self, value: ValueId, output: TensorSpec) -> ValueId {
        let arguments = vec![Argument::Value(value), Argument::Int(1), Argument::Int(2)];
        self.call("aten.transpose.int", arguments, output)
    }

    /// The largest and the smallest size of a dimension.
    fn range(&self, value: ValueId, dimension: usize) -> [i32; 2] {
        let spec = self.like(value);
        [spec.sizes.get(dimension).copied().unwrap_or(1), spec.least.get(dimension).copied().unwrap_or(1)]
    }
}

fn floats<const N: usize>(most: [i32; N], least: [i32; N]) -> TensorSpec {
    TensorSpec::contiguous(ScalarType::Float, most).with_least(least)
}
