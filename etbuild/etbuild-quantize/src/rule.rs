//! The rules: for every operator that quantization is about, what becomes of its operands and results.

use etbuild_ir::{Argument, Graph, Node};

/// What quantization does with an operator. Numbers are positions of arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Activations times constant weights, in integers: always worth it. A bias stays real; as an integer its scale is that of
    /// the activations times that of the weights, so it needs no parameters of its own.
    Product {
        /// The activations.
        input: usize,
        /// The weights.
        weight: usize,
        /// The dimension of the weights that is the output channel.
        channel: usize,
        /// The bias.
        bias: usize,
    },
    /// Two activations multiplied. Only where a layer names the operator: scores of attention bear it badly.
    Matmul {
        /// Both.
        inputs: [usize; 2],
    },
    /// Arithmetic on two tensors: in integers where the result is wanted so.
    Arithmetic {
        /// Both.
        inputs: [usize; 2],
    },
    /// A sum over positions: in integers where the result is wanted so, with parameters of its own.
    Mean,
    /// A function of single elements: part of what computes its operand where nothing else reads that, else a table.
    Activation,
    /// As [`Kind::Activation`], with results in a range that is known: 256 steps from 0 on, or around 0.
    Bounded {
        /// The scale is one divided by this.
        steps: u16,
        /// What 0 becomes.
        zero_point: i64,
    },
    /// Moves, copies or chooses elements: the result has the parameters of the first operand, or of all in a list.
    Move,
    /// Computed in real numbers; the result becomes integers where it is wanted so.
    Real,
    /// The same with results from 0 to 1.
    RealBounded,
    /// Rows of a table of weights.
    Table,
}

const fn product(channel: usize) -> Kind {
    Kind::Product { input: 0, weight: 1, channel, bias: 2 }
}

const PAIR: Kind = Kind::Arithmetic { inputs: [0, 1] };
const MATMUL: Kind = Kind::Matmul { inputs: [0, 1] };
/// From 0 to 1.
const UNIT: Kind = Kind::Bounded { steps: 256, zero_point: -128 };
/// From -1 to 1.
const SIGNED_UNIT: Kind = Kind::Bounded { steps: 128, zero_point: 0 };

/// Every operator that quantization is about, in the order of names. All others are computed in real numbers, and neither their
/// operands nor their results are quantized on their account.
pub const RULES: &[(&str, Kind)] = &[
    ("aten._adaptive_avg_pool2d.default", Kind::Mean),
    ("aten._softmax.default", Kind::RealBounded),
    ("aten.add.Scalar", Kind::Activation),
    ("aten.add.Tensor", PAIR),
    ("aten.addmm.default", Kind::Product { input: 1, weight: 2, channel: 1, bias: 0 }),
    ("aten.alias_copy.default", Kind::Move),
    ("aten.avg_pool2d.default", Kind::Move),
    ("aten.bmm.default", MATMUL),
    ("aten.cat.default", Kind::Move),
    ("aten.clamp.default", Kind::Activation),
    ("aten.clone.default", Kind::Move),
    ("aten.constant_pad_nd.default", Kind::Move),
    ("aten.convolution.default", product(0)),
    ("aten.elu.default", Kind::Activation),
    ("aten.embedding.default", Kind::Table),
    ("aten.expand_copy.default", Kind::Move),
    ("aten.flip.default", Kind::Move),
    ("aten.gelu.default", Kind::Activation),
    ("aten.group_norm.default", Kind::Real),
    ("aten.hardsigmoid.default", UNIT),
    ("aten.hardswish.default", Kind::Activation),
    ("aten.hardtanh.default", Kind::Activation),
    ("aten.layer_norm.default", Kind::Real),
    ("aten.leaky_relu.default", Kind::Activation),
    ("aten.linear.default", product(0)),
    ("aten.max_pool2d_with_indices.default", Kind::Move),
    ("aten.mean.dim", Kind::Mean),
    ("aten.mish.default", Kind::Activation),
    ("aten.mm.default", product(1)),
    ("aten.mul.Scalar", Kind::Activation),
    ("aten.mul.Tensor", PAIR),
    ("aten.native_group_norm.default", Kind::Real),
    ("aten.native_layer_norm.default", Kind::Real),
    ("aten.permute_copy.default", Kind::Move),
    ("aten.pixel_shuffle.default", Kind::Move),
    ("aten.relu.default", Kind::Activation),
    ("aten.repeat.default", Kind::Move),
    ("aten.rms_norm.default", Kind::Real),
    ("aten.roll.default", Kind::Move),
    ("aten.scaled_dot_product_attention.default", Kind::Real),
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
];

/// The rule for a node's operator.
pub fn of(node: &Node) -> Option<Kind> {
    let found = RULES.binary_search_by(|(name, _)| (*name).cmp(node.operator.as_str())).ok()?;
    RULES.get(found).map(|(_, kind)| *kind).filter(|_| is_usual(node))
}

/// Whether the arguments are those that the rule is about: a pad of zeros, a convolution that is not transposed.
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

/// The results of a bounded activation or of a softmax: scale and zero point.
pub fn fixed(kind: Kind) -> Option<(f32, i64)> {
    match kind {
        Kind::Bounded { steps, zero_point } => Some((1.0 / f32::from(steps), zero_point)),
        Kind::RealBounded => Some((1.0 / 256.0, -128)),
        _ => None,
    }
}

/// The tensors whose parameters a move shares with its results.
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
    fn the_list_is_sorted() {
        assert!(RULES.is_sorted_by(|left, right| left.0 < right.0));
    }

    #[test]
    fn every_operator_has_a_kernel() {
        for (name, _) in RULES {
            let operator = etbuild_ir::OperatorName::parse(name).unwrap();
            assert!(et_ops::find_functional(&operator.qualified()).is_some(), "{name}");
        }
    }
}
