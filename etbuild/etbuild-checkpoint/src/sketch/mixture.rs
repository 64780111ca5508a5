//! The operators of mixtures of experts.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use super::Sketch;
use crate::constant::{Matrices, spec};
use crate::{Clamped, Groups};

impl Sketch {
    /// Layers that rows choose by `numbers`: each row of `input` times the chosen ones of `matrices`.
    pub fn choose(&mut self, input: ValueId, numbers: ValueId, matrices: &Matrices, sizes: [usize; 3]) -> ValueId {
        let Matrices { all, biases, offsets } = matrices;
        let list = Argument::Values(all.iter().map(|matrix| Some(self.floats(matrix))).collect());
        let [biases, offsets] = [biases, offsets].map(|constant| match constant {
            Some(constant) => Argument::Value(self.constant(constant)),
            None => Argument::None,
        });
        let arguments = vec![Argument::Value(input), Argument::Value(numbers), list, biases, offsets];
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

    /// The experts of each row whose shares `[rows, experts]` plus biases are greatest, of the best groups: shares and numbers.
    pub fn choose_experts(
        &mut self,
        shares: ValueId,
        biases: Option<ValueId>,
        groups: Option<Groups>,
        count: usize,
    ) -> [ValueId; 2] {
        let Groups { count: all, chosen, judged } = groups.unwrap_or(Groups { count: 1, chosen: 1, judged: 1 });
        let sizes = [self.size(shares, 0), count];
        let outputs = [ScalarType::Float, ScalarType::Long].map(|scalar_type| spec(scalar_type, &sizes));
        let numbers = [count, all, chosen, judged].map(|number| Argument::Int(number as i64));
        let biases = biases.map_or(Argument::None, Argument::Value);
        let arguments = [Argument::Value(shares), biases].into_iter().chain(numbers).collect();
        self.call_many("etbuild.choose_experts.default", arguments, outputs)
    }

    /// The experts of each row whose scores `[rows, experts]` are greatest, two: for each the probability among experts whose scores are close to
    /// it, but for better ones. Probabilities and numbers.
    pub fn choose_in_turns(&mut self, scores: ValueId, slack: f64) -> [ValueId; 2] {
        let [best, numbers] = self.greatest(scores, 2);
        let shares = [0, 1].map(|turn| {
            let own = self.slice(best, 1, turn, turn + 1);
            self.share_among_close(scores, own, slack)
        });
        [self.join(&shares, 1), numbers]
    }

    /// `1 / sum(exp(score - own))` over the scores of a row that are at most `own` and close to it, `[rows, 1]`.
    fn share_among_close(&mut self, scores: ValueId, own: ValueId, slack: f64) -> ValueId {
        let (output, sums) = (self.like(scores), self.like(own));
        let flags = TensorSpec { scalar_type: ScalarType::Bool, ..output.clone() };
        let below = self.less(scores, own);
        let magnitudes = self.own("aten.abs.default", &[scores], &[]);
        let magnitudes = self.own("aten.maximum.default", &[magnitudes, own], &[]);
        let least = self.scale(magnitudes, -slack);
        let is_close = self.call("aten.ge.Tensor", vec![Argument::Value(below), Argument::Value(least)], flags.clone());
        let is_lesser = self.call("aten.le.Scalar", vec![Argument::Value(below), Argument::Float(0.0)], flags.clone());
        let counts = [is_close, is_lesser].map(Argument::Value).to_vec();
        let counts = self.call("aten.logical_and.default", counts, flags);
        let powers = self.own("aten.exp.default", &[below], &[]);
        let nothing = self.scale(magnitudes, 0.0);
        let powers = [counts, powers, nothing].map(Argument::Value).to_vec();
        let powers = self.call("aten.where.self", powers, output);
        let arguments = vec![Argument::Value(powers), Argument::Ints(vec![-1]), Argument::Bool(true), Argument::None];
        let sum = self.call("aten.sum.dim_IntList", arguments, sums);
        self.own("aten.reciprocal.default", &[sum], &[])
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
        let gate = self.call("aten.clamp.default", vec![Argument::Value(gate), Argument::None, most], output);
        let steep = self.scale(gate, clamped.slope);
        let open = self.own("aten.sigmoid.default", &[steep], &[]);
        let gate = self.multiply(gate, open);
        let up = self.clip(up, clamped.most);
        let up = self.more(up, 1.0);
        self.multiply(up, gate)
    }
}
