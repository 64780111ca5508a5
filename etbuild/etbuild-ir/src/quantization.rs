//! Quantize and dequantize nodes with their arguments by name.

use et_core::ScalarType;

use crate::{Argument, Node, OperatorName, ValueId};

const QUANTIZE: &str = "quantized_decomposed.quantize_per_tensor.default";
const DEQUANTIZE: &str = "quantized_decomposed.dequantize_per_tensor.default";
const DEQUANTIZE_AFFINE: &str = "torchao.dequantize_affine.default";

/// The qparams of a tensor that are known at build time: an integer represents `(integer - zero_point) * scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerTensor {
    /// The distance of neighbouring numbers.
    pub scale: f64,
    /// The integer of 0.0.
    pub zero_point: i64,
    /// The smallest integer.
    pub least: i64,
    /// The greatest integer.
    pub most: i64,
    /// The type of the integers.
    pub scalar_type: ScalarType,
}

impl PerTensor {
    /// The qparams of a node that quantizes a tensor; `None` for nodes of another kind.
    pub fn of_quantize(node: &Node) -> Option<Self> {
        Self::of(node, QUANTIZE)
    }

    /// The qparams of a node that dequantizes a tensor; `None` for nodes of another kind.
    pub fn of_dequantize(node: &Node) -> Option<Self> {
        Self::of(node, DEQUANTIZE)
    }

    /// A node that quantizes a tensor.
    pub fn quantize(self, from: ValueId, to: ValueId) -> Node {
        Node { operator: OperatorName::known(QUANTIZE), arguments: self.arguments(from).into(), outputs: vec![to] }
    }

    /// A node that dequantizes a tensor to `float32`.
    pub fn dequantize(self, from: ValueId, to: ValueId) -> Node {
        let arguments = self.arguments(from).into_iter().chain([Argument::None]).collect();
        Node { operator: OperatorName::known(DEQUANTIZE), arguments, outputs: vec![to] }
    }

    fn arguments(self, from: ValueId) -> [Argument; 6] {
        let Self { scale, zero_point, least, most, scalar_type } = self;
        [
            Argument::Value(from),
            Argument::Float(scale),
            Argument::Int(zero_point),
            Argument::Int(least),
            Argument::Int(most),
            Argument::Type(scalar_type),
        ]
    }

    fn of(node: &Node, operator: &str) -> Option<Self> {
        match &node.arguments[..] {
            [
                _,
                Argument::Float(scale),
                Argument::Int(zero_point),
                Argument::Int(least),
                Argument::Int(most),
                Argument::Type(scalar_type),
                ..,
            ] if node.operator.as_str() == operator => Some(Self {
                scale: *scale,
                zero_point: *zero_point,
                least: *least,
                most: *most,
                scalar_type: *scalar_type,
            }),
            _ => None,
        }
    }
}

/// A node that dequantizes integers with a scale per block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DequantizeAffine<'a> {
    /// The integers.
    pub integers: ValueId,
    /// The sizes of a block, by dimension.
    pub block: &'a [i64],
    /// The scales.
    pub scales: ValueId,
    /// The zero points; `None` for zeros.
    pub zero_points: Option<ValueId>,
    /// The smallest integer.
    pub least: i64,
    /// The greatest integer.
    pub most: i64,
}

impl<'a> DequantizeAffine<'a> {
    /// Whether a node is `dequantize_affine`; [`Self::of`] also checks the arguments of the node.
    pub fn is(node: &Node) -> bool {
        node.operator.as_str() == DEQUANTIZE_AFFINE
    }

    /// The arguments of a node that dequantizes blocks; `None` for nodes of another kind, and without limits of the integers.
    pub fn of(node: &'a Node) -> Option<Self> {
        let [
            Argument::Value(integers),
            Argument::Ints(block),
            Argument::Value(scales),
            zero_points,
            _,
            Argument::Int(least),
            Argument::Int(most),
            ..,
        ] = &node.arguments[..]
        else {
            return None;
        };
        let zero_points = match zero_points {
            Argument::Value(id) => Some(*id),
            _ => None,
        };
        Self::is(node).then_some(Self {
            integers: *integers,
            block,
            scales: *scales,
            zero_points,
            least: *least,
            most: *most,
        })
    }
}
