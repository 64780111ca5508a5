//! Embedding tables of integers: the operators that read their rows.

use et_core::ScalarType;
use etbuild_ir::{Argument, ConstantData, Node, OperatorName, TensorSpec, ValueId};

use super::builder::Builder;
use crate::Observer;
use crate::annotate::tensor;
use crate::options::{Embedding, Options};
use crate::parameters::Bounds;
use crate::run::float_constant;
use crate::weight::{self, Choice};

/// The node with a table of integers; as it is where the table is no constant of `float32`.
pub fn quantized(builder: &mut Builder, node: Node, form: Embedding) -> Node {
    replaced(builder, &node, form).unwrap_or(node)
}

fn replaced(builder: &mut Builder, node: &Node, form: Embedding) -> Option<Node> {
    let (table, indices) = (tensor(node, 0)?, tensor(node, 1)?);
    let [rows, length] = builder.graph.spec(table).sizes[..] else { return None };
    let (operator, bounds, group) = match form {
        Embedding::Weight8 => ("quantized_decomposed.embedding_byte.default", Bounds::ROW8, length),
        Embedding::Weight4 if length % 2 == 0 => {
            let group = Options::GROUP as i32;
            let group = if length % group == 0 { group } else { length };
            ("quantized_decomposed.embedding_4bit.default", Bounds::WEIGHT4, group)
        }
        Embedding::Weight4 => return None,
    };
    let weights = float_constant(&builder.graph, table)?;
    let found = weight::by_blocks(weights, usize::try_from(group).ok()?, Choice::new(bounds, Observer::MinMax))?;
    builder.graph.constant(table).into_iter().for_each(ConstantData::release);
    let (bytes, width, scalar_type) = match form {
        Embedding::Weight8 => (found.bytes(), length, ScalarType::Char),
        Embedding::Weight4 => (packed(&found.integers), length / 2, ScalarType::Byte),
    };
    let spec = TensorSpec::contiguous(scalar_type, [rows, width]);
    let integers = builder.constant(table, "integers", spec, bytes);
    let spec = TensorSpec::contiguous(ScalarType::Float, [rows, length / group]);
    let scales = builder.constant(table, "scales", spec, found.scale_bytes());
    let arguments = arguments([integers, scales, indices], bounds);
    Some(Node { operator: OperatorName::parse(operator)?, arguments, outputs: node.outputs.clone() })
}

fn arguments([integers, scales, indices]: [ValueId; 3], bounds: Bounds) -> Vec<Argument> {
    let [integers, scales, indices] = [integers, scales, indices].map(Argument::Value);
    vec![integers, scales, Argument::None, Argument::Int(bounds.lowest), Argument::Int(bounds.highest), indices]
}

/// Two integers from -8 to 7 in a byte, each with 8 added, the first in the upper half.
fn packed(integers: &[i8]) -> Vec<u8> {
    let half = |integer: i8| (integer + 8).cast_unsigned() & 15;
    integers.as_chunks::<2>().0.iter().map(|[first, second]| half(*first) << 4 | half(*second)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_two_is_in_the_upper_half() {
        assert_eq!(packed(&[-8, 7, 0, -8]), [15, 128]);
    }
}
