//! The operators of mixtures of experts.

use et_core::ScalarType;
use etbuild_ir::{Argument, ValueId};

use super::Sketch;
use crate::Clamped;
use crate::constant::spec;

impl Sketch {
    /// Layers that rows choose by `numbers`: each row of `input` times the chosen ones of `matrices`.
    pub fn choose(
        &mut self,
        input: ValueId,
        numbers: ValueId,
        (matrices, biases): (Vec<ValueId>, Option<ValueId>),
        sizes: [usize; 3],
    ) -> ValueId {
        let matrices = Argument::Values(matrices.into_iter().map(Some).collect());
        let biases = biases.map_or(Argument::None, Argument::Value);
        let arguments = vec![Argument::Value(input), Argument::Value(numbers), matrices, biases];
        self.call("etbuild.expert_linear.default", arguments, spec(ScalarType::Float, &sizes))
    }

    /// Probabilities by the last dimension.
    pub fn softmax(&mut self, scores: ValueId) -> ValueId {
        let output = self.like(scores);
        self.call("aten.softmax.int", vec![Argument::Value(scores), Argument::Int(-1), Argument::None], output)
    }

    /// The greatest elements of each row `[rows, elements]` in order, and their indices.
    pub fn greatest(&mut self, of: ValueId, count: usize) -> [ValueId; 2] {
        let sizes = [self.size(of, 0), count];
        let outputs = [ScalarType::Float, ScalarType::Long].map(|scalar_type| spec(scalar_type, &sizes));
        let arguments = vec![
            Argument::Value(of),
            Argument::Int(count as i64),
            Argument::Int(-1),
            Argument::Bool(true),
            Argument::Bool(true),
        ];
        self.call_many("aten.topk.default", arguments, outputs)
    }

    /// Elements divided by the sum of their row `[rows, elements]`.
    pub fn normalized(&mut self, rows: ValueId) -> ValueId {
        let (output, sums) = (self.like(rows), spec(ScalarType::Float, &[self.size(rows, 0), 1]));
        let arguments = vec![Argument::Value(rows), Argument::Ints(vec![-1]), Argument::Bool(true), Argument::None];
        let sums = self.call("aten.sum.dim_IntList", arguments, sums);
        self.call("aten.div.Tensor", vec![Argument::Value(rows), Argument::Value(sums)], output)
    }

    /// A stack of matrices times another stack of matrices.
    pub fn products(&mut self, left: ValueId, right: ValueId) -> ValueId {
        let sizes = [self.size(left, 0), self.size(left, 1), self.size(right, 2)];
        let output = spec(ScalarType::Float, &sizes);
        self.call("aten.bmm.default", vec![Argument::Value(left), Argument::Value(right)], output)
    }

    /// The product of a gate and of a value, both clamped.
    pub fn clamped_gate(&mut self, gate: ValueId, up: ValueId, clamped: Clamped) -> ValueId {
        let output = self.like(gate);
        let most = Argument::Float(clamped.most);
        let gate = self.call("aten.clamp.default", vec![Argument::Value(gate), Argument::None, most], output.clone());
        let steep = self.scale(gate, clamped.slope);
        let open = self.own("aten.sigmoid.default", &[steep], &[]);
        let gate = self.multiply(gate, open);
        let up = self.clip(up, clamped.most);
        let more = vec![Argument::Value(up), Argument::Float(1.0), Argument::Int(1)];
        let up = self.call("aten.add.Scalar", more, output);
        self.multiply(up, gate)
    }
}
