//! Attention of all tokens to all tokens.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use super::Sketch;

impl Sketch {
    /// Attention (Vaswani et al. 2017) of queries to keys and values, `[1, n, width]` each, with scores over the root of a head's
    /// elements.
    pub fn attention(&mut self, inputs: [ValueId; 3], heads: usize) -> ValueId {
        self.attend(inputs, heads, [Argument::None, Argument::None])
    }

    /// The same with other scores: products times `scale`, and `biases`, `[1, heads, n, n]`, added.
    pub fn biased_attention(&mut self, inputs: [ValueId; 3], heads: usize, biases: ValueId, scale: f64) -> ValueId {
        self.attend(inputs, heads, [Argument::Value(biases), Argument::Float(scale)])
    }

    fn attend(&mut self, inputs: [ValueId; 3], heads: usize, [biases, scale]: [Argument; 2]) -> ValueId {
        let split = inputs.map(|value| self.split(value, heads));
        let more = [biases, Argument::Float(0.0), Argument::Bool(false), scale, Argument::Bool(false)];
        let attended = self.own("aten.scaled_dot_product_attention.default", &split, &more);
        self.merge(attended)
    }

    /// `[1, n, width]` as `[1, n, heads, depth]`.
    pub fn apart(&mut self, value: ValueId, heads: usize) -> ValueId {
        let ([n, least], heads, depth) = (self.range(value, 1), heads as i32, (self.last(value) / heads.max(1)) as i32);
        let apart = floats([1, n, heads, depth], [1, least, heads, depth]);
        let shape = Argument::Ints(vec![1, -1, i64::from(heads), i64::from(depth)]);
        self.call("aten.view.default", vec![Argument::Value(value), shape], apart)
    }

    /// `[1, n, width]` as `[1, heads, n, depth]`.
    fn split(&mut self, value: ValueId, heads: usize) -> ValueId {
        let ([n, least], depth) = (self.range(value, 1), (self.last(value) / heads.max(1)) as i32);
        let apart = self.apart(value, heads);
        let heads = heads as i32;
        self.transpose(apart, floats([1, heads, n, depth], [1, heads, least, depth]))
    }

    /// `[1, heads, n, depth]` as `[1, n, width]`.
    fn merge(&mut self, value: ValueId) -> ValueId {
        let ([n, least], heads, depth) = (self.range(value, 2), self.size(value, 1) as i32, self.last(value) as i32);
        let apart = self.transpose(value, floats([1, n, heads, depth], [1, least, heads, depth]));
        let shape = Argument::Ints(vec![1, -1, i64::from(heads * depth)]);
        let output = floats([1, n, heads * depth], [1, least, heads * depth]);
        self.call("aten.view.default", vec![Argument::Value(apart), shape], output)
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
