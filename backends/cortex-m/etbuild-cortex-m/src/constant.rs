//! Constants of a graph as numbers.

use et_core::ScalarType;
use etbuild_ir::{Argument, ConstantData, Links, Node, ValueId, evaluate_constant};

/// Symmetric int8 weights, with a scale for each output channel.
#[derive(Clone, Debug)]
pub struct ByteWeights {
    /// The elements in row-major order, output channels first.
    pub bytes: ConstantData,
    /// The scale of each output channel.
    pub scales: Vec<f32>,
    /// The sizes.
    pub sizes: Vec<usize>,
}

/// The weights of a value that is dequantized from an int8 constant, by tensor or by output channel, without zero points.
pub fn byte_weights(links: &Links<'_>, id: ValueId) -> Option<ByteWeights> {
    let node = links.maker(id)?;
    let Some(Argument::Value(bytes)) = node.arguments.first() else { return None };
    let spec = links.graph.spec(*bytes);
    let sizes: Vec<usize> = spec.sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect();
    let channels = *sizes.first()?;
    let (scales, zeros) = match (node.operator.as_str(), &node.arguments[..]) {
        (
            "quantized_decomposed.dequantize_per_channel.default",
            [_, Argument::Value(scales), zeros, Argument::Int(0), ..],
        ) => (floats(links, *scales)?, zero_points(links, zeros)?),
        (
            "quantized_decomposed.dequantize_per_tensor.default",
            [_, Argument::Float(scale), Argument::Int(zero), ..],
        ) => (vec![*scale as f32; channels], vec![*zero]),
        _ => return None,
    };
    let fits = spec.scalar_type == ScalarType::Char && spec.is_contiguous() && scales.len() == channels;
    let bytes = links.graph.constant(*bytes).filter(|_| fits && zeros.iter().all(|zero| *zero == 0))?;
    Some(ByteWeights { bytes: bytes.clone(), scales, sizes })
}

fn zero_points(links: &Links<'_>, argument: &Argument) -> Option<Vec<i64>> {
    let Argument::Value(id) = argument else { return Some(Vec::new()) };
    let bytes = links.graph.constant(*id)?.bytes();
    match links.graph.spec(*id).scalar_type {
        ScalarType::Long => Some(bytes.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect()),
        ScalarType::Int => {
            Some(bytes.as_chunks::<4>().0.iter().map(|bytes| i64::from(i32::from_le_bytes(*bytes))).collect())
        }
        ScalarType::Char => Some(bytes.iter().map(|byte| i64::from(byte.cast_signed())).collect()),
        _ => None,
    }
}

/// The elements of a floating-point constant, or of a value computed from constants by one node.
pub fn floats(links: &Links<'_>, id: ValueId) -> Option<Vec<f32>> {
    let data = match links.graph.constant(id) {
        Some(data) => data.clone(),
        None => evaluate_constant(links.graph, links.maker(id).filter(|node| dequantizes(node))?)?,
    };
    match links.graph.spec(id).scalar_type {
        ScalarType::Float => {
            Some(data.bytes().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
        }
        ScalarType::Double => {
            Some(data.bytes().as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes) as f32).collect())
        }
        _ => None,
    }
}

/// Whether a node dequantizes constants only.
pub fn dequantizes_constants(links: &Links<'_>, node: &Node) -> bool {
    dequantizes(node) && node.uses().all(|id| links.graph.constant(id).is_some())
}

fn dequantizes(node: &Node) -> bool {
    node.operator.name().starts_with("dequantize_")
}
