//! Means and magnitudes of vectors: of the last dimension.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use super::Sketch;

impl Sketch {
    /// The mean of each vector, `[.., 1]`.
    pub fn mean(&mut self, vectors: ValueId) -> ValueId {
        let mut output = self.like(vectors);
        let _ = output.set_size(output.rank().saturating_sub(1), 1);
        let arguments = vec![Argument::Value(vectors), Argument::Ints(vec![-1]), Argument::Bool(true), Argument::None];
        self.call("aten.mean.dim", arguments, output)
    }

    /// The mean of squares of each vector, `[.., 1]`.
    pub fn mean_square(&mut self, vectors: ValueId) -> ValueId {
        let squares = self.multiply(vectors, vectors);
        self.mean(squares)
    }

    /// Square roots.
    pub fn root(&mut self, values: ValueId) -> ValueId {
        self.own("aten.sqrt.default", &[values], &[])
    }

    /// Vectors less a number for each, `[.., 1]`.
    pub fn less(&mut self, vectors: ValueId, numbers: ValueId) -> ValueId {
        self.own("aten.sub.Tensor", &[vectors, numbers], &[Argument::Int(1)])
    }

    /// Vectors with the root of the mean of squares of others, where the mean of their own squares is at least `least`.
    pub fn as_large_as(&mut self, vectors: ValueId, magnitudes: ValueId, least: f64) -> ValueId {
        let own = self.mean_square(vectors);
        let own = self.own("aten.clamp.default", &[own], &[Argument::Float(least), Argument::None]);
        let own = self.root(own);
        let scaled = self.multiply(vectors, magnitudes);
        self.own("aten.div.Tensor", &[scaled, own], &[])
    }

    /// A vector `[1, width]` over its length, as `torch.nn.functional.normalize`.
    pub fn unit(&mut self, vector: ValueId) -> ValueId {
        self.enter("normalize");
        let squares = self.multiply(vector, vector);
        let sum = vec![Argument::Value(squares), Argument::Ints(vec![1]), Argument::Bool(true), Argument::None];
        let one = TensorSpec::contiguous(ScalarType::Float, [1, 1]);
        let sum = self.call("aten.sum.dim_IntList", sum, one);
        let length = self.root(sum);
        let length = self.own("aten.clamp.default", &[length], &[Argument::Float(1e-12), Argument::None]);
        self.own("aten.div.Tensor", &[vector, length], &[])
    }
}
