//! The rules: how each operator is quantized.

use etbuild_ir::{Argument, Graph, Node};

use crate::want::Want;

/// The rule of an operator. Numbers are positions of arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A GEMM or convolution with constant weights: always quantized. The bias stays float: the int32 bias has the
    /// scale `activation scale x weight scale`, so no qparams are needed.
    Gemm {
        /// The activations.
        input: usize,
        /// The weights.
        weight: usize,
        /// The dimension of the weights that is the output channel.
        channel: usize,
        /// The bias.
        bias: usize,
    },
    /// A product of two activations. Quantized only if an exception names the operator: attention scores suffer.
    Matmul {
        /// The positions of both operands.
        inputs: [usize; 2],
    },
    /// Elementwise arithmetic on two tensors: quantized on demand.
    Arithmetic {
        /// The positions of both operands.
        inputs: [usize; 2],
    },
    /// A mean: quantized on demand, with separate qparams.
    Mean,
    /// An elementwise function: fused with the producer if no other node reads the operand, else a table lookup.
    Activation,
    /// An elementwise function with a known range: 256 steps from 0 on, or around 0.
    Bounded {
        /// The inverse of the scale.
        steps: u16,
        /// The integer of 0.0.
        zero_point: i64,
    },
    /// Moves, copies or selects elements: the result shares the qparams of the first operand, or of all operands in a
    /// list.
    Move,
    /// Computed in float; the result is quantized on demand.
    Float,
    /// Computed in float; the results are in the range 0 to 1.
    FloatBounded,
    /// A recurrent layer with constant weights, the third argument. Quantized only if an exception names the operator; the result then has
    /// the range -1 to 1.
    Recurrent,
    /// An embedding: gathers rows of a constant table.
    Embedding,
    /// Linear layers of which each row chooses some, with constant weights: quantized by schemes for weights, and by those that find the scales
    /// of activations at run time.
    Experts {
        /// The activations.
        input: usize,
        /// The list of weights.
        weights: usize,
    },
    /// Writes rows to a KV cache, which becomes int8 with the qparams of the rows in a scheme for NPUs.
    Cache,
}

const fn gemm(channel: usize) -> Kind {
    Kind::Gemm { input: 0, weight: 1, channel, bias: 2 }
}

const PAIR: Kind = Kind::Arithmetic { inputs: [0, 1] };
const MATMUL: Kind = Kind::Matmul { inputs: [0, 1] };
/// The range 0 to 1.
const UNIT: Kind = Kind::Bounded { steps: 256, zero_point: -128 };
/// The range -1 to 1.
const SIGNED_UNIT: Kind = Kind::Bounded { steps: 128, zero_point: 0 };

/// The rules in the order of operator names. An operator without a rule is computed in float, and demands no int8
/// operands.
pub const RULES: &[(&str, Kind)] = &[
    ("aten._adaptive_avg_pool2d.default", Kind::Mean),
    ("aten._softmax.default", Kind::FloatBounded),
    ("aten.add.Scalar", Kind::Activation),
    ("aten.add.Tensor", PAIR),
    ("aten.addmm.default", Kind::Gemm { input: 1, weight: 2, channel: 1, bias: 0 }),
    ("aten.alias_copy.default", Kind::Move),
    ("aten.avg_pool2d.default", Kind::Move),
    ("aten.bmm.default", MATMUL),
    ("aten.cat.default", Kind::Move),
    ("aten.clamp.default", Kind::Activation),
    ("aten.clone.default", Kind::Move),
    ("aten.constant_pad_nd.default", Kind::Move),
    ("aten.convolution.default", gemm(0)),
    ("aten.elu.default", Kind::Activation),
    ("aten.embedding.default", Kind::Embedding),
    ("aten.expand_copy.default", Kind::Move),
    ("aten.flip.default", Kind::Move),
    ("aten.gelu.default", Kind::Activation),
    ("aten.group_norm.default", Kind::Float),
    ("aten.gru.input", Kind::Recurrent),
    ("aten.hardsigmoid.default", UNIT),
    ("aten.hardswish.default", Kind::Activation),
    ("aten.hardtanh.default", Kind::Activation),
    ("aten.index_select.default", Kind::Move),
    ("aten.layer_norm.default", Kind::Float),
    ("aten.leaky_relu.default", Kind::Activation),
    ("aten.linear.default", gemm(0)),
    ("aten.lstm.input", Kind::Recurrent),
    ("aten.max_pool2d_with_indices.default", Kind::Move),
    ("aten.mean.dim", Kind::Mean),
    ("aten.mish.default", Kind::Activation),
    ("aten.mm.default", gemm(1)),
    ("aten.mul.Scalar", Kind::Activation),
    ("aten.mul.Tensor", PAIR),
    ("aten.native_group_norm.default", Kind::Float),
    ("aten.native_layer_norm.default", Kind::Float),
    ("aten.permute_copy.default", Kind::Move),
    ("aten.pixel_shuffle.default", Kind::Move),
    ("aten.relu.default", Kind::Activation),
    ("aten.repeat.default", Kind::Move),
    ("aten.rms_norm.default", Kind::Float),
    ("aten.roll.default", Kind::Move),
    ("aten.scaled_dot_product_attention.default", Kind::Float),
    ("aten.select_copy.int", Kind::Move),
    ("aten.sigmoid.default", UNIT),
    ("aten.silu.default", Kind::Activation),
    ("aten.slice_copy.Tensor", Kind::Move),
    ("aten.split_copy.Tensor", Kind::Move),
    ("aten.split_with_sizes_copy.default", Kind::Move),
    ("aten.squeeze_copy.dim", Kind::Move),
    ("aten.squeeze_copy.dims", Kind::Move),
    ("aten.stack.default", Kind::Move),
    ("aten.sub.Tensor", PAIR),
    ("aten.t_copy.default", Kind::Move),
    ("aten.tanh.default", SIGNED_UNIT),
    ("aten.transpose_copy.int", Kind::Move),
    ("aten.unbind_copy.int", Kind::Move),
    ("aten.unsqueeze_copy.default", Kind::Move),
    ("aten.upsample_nearest2d.vec", Kind::Move),
    ("aten.view_copy.default", Kind::Move),
    ("etbuild.attend_block.default", Kind::Float),
    ("etbuild.attend_cache.default", Kind::Float),
    ("etbuild.attend_segments.default", Kind::Float),
    ("etbuild.choose_experts.default", Kind::Float),
    ("etbuild.conv_cache.default", Kind::Float),
    ("etbuild.expert_linear.default", Kind::Experts { input: 0, weights: 2 }),
    ("etbuild.rotate.default", Kind::Float),
    ("etbuild.write_cache.default", Kind::Cache),
];

/// The rule of a node.
pub fn of(node: &Node) -> Option<Kind> {
    let found = RULES.binary_search_by(|(name, _)| (*name).cmp(node.operator.as_str())).ok()?;
    RULES.get(found).map(|(_, kind)| *kind).filter(|_| is_usual(node))
}

/// Whether the rule covers the arguments: padding with zeros, no transposed convolution.
fn is_usual(node: &Node) -> bool {
    let argument = |position: usize| node.arguments.get(position);
    match node.operator.name() {
        "constant_pad_nd" => {
            matches!(argument(2), None | Some(Argument::None | Argument::Int(0))) || is_zero(argument(2))
        }
        "convolution" => argument(6) == Some(&Argument::Bool(false)),
        _ => true,
    }
}

fn is_zero(argument: Option<&Argument>) -> bool {
    matches!(argument, Some(Argument::Float(value)) if *value == 0.0)
}

/// The known qparams of a rule for results of a type: scale and zero point.
pub fn fixed(kind: Kind, want: Want) -> Option<(f32, i64)> {
    if want == Want::SymmetricInt16 {
        return matches!(kind, Kind::Bounded { .. } | Kind::FloatBounded).then_some((1.0 / 32_768.0, 0));
    }
    // The steps of int16 are 256 times as many.
    let finer = if want == Want::Int16 { 256 } else { 1 };
    let (steps, zero_point) = match kind {
        Kind::Bounded { steps, zero_point } => (i64::from(steps), zero_point),
        Kind::FloatBounded => (256, -128),
        _ => return None,
    };
    Some((1.0 / (steps * finer) as f32, zero_point * finer))
}

/// Whether a node is a convolution of several groups.
pub fn is_grouped(node: &Node) -> bool {
    node.operator.name() == "convolution"
        && matches!(node.arguments.get(8), Some(Argument::Int(groups)) if *groups != 1)
}

/// Whether a node only limits its operand.
pub fn saturates(node: &Node) -> bool {
    matches!(node.operator.as_str(), "aten.relu.default" | "aten.clamp.default" | "aten.hardtanh.default")
}

/// The operands whose qparams the results of a move share.
pub fn moved(graph: &Graph, node: &Node) -> Vec<etbuild_ir::ValueId> {
    let tensors = match node.arguments.first() {
        Some(Argument::Value(id)) => vec![*id],
        Some(Argument::Values(ids)) => ids.iter().copied().flatten().collect(),
        _ => Vec::new(),
    };
    tensors.into_iter().filter(|id| graph.number(*id).is_none()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_sorted() {
        assert!(RULES.is_sorted_by(|left, right| left.0 < right.0));
    }

    #[test]
    fn every_operator_with_a_rule_has_a_kernel() {
        for (name, _) in RULES {
            let operator = etbuild_ir::OperatorName::parse(name).unwrap();
            assert!(et_ops::find_functional(&operator.qualified()).is_some(), "{name}");
        }
    }
}
