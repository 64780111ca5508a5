//! Constants and dequantized constants as numbers.

use et_core::ScalarType;
use etbuild_ir::{Argument, ConstantData, Links, Node, ValueId, evaluate_constant};
use etbuild_weights::reals;

/// Symmetric int8 weights with a scale for each output channel, the first dimension.
#[derive(Clone, Debug)]
pub struct ByteWeights {
    /// The elements in row-major order.
    pub bytes: ConstantData,
    /// The scales of the output channels.
    pub scales: Vec<f32>,
    /// The shape.
    pub sizes: Vec<usize>,
}

impl ByteWeights {
    /// The weights of the constant `bytes` with a scale for each output channel; `None` for other types and layouts, and where
    /// a zero point is not 0.
    pub fn new(links: &Links<'_>, bytes: ValueId, scales: Vec<f32>, zero_points: &[i64]) -> Option<Self> {
        let spec = links.graph.spec(bytes);
        let sizes: Vec<usize> = spec.sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect();
        let fits = spec.scalar_type == ScalarType::Char && spec.is_contiguous() && sizes.first() == Some(&scales.len());
        let bytes = links.graph.constant(bytes).filter(|_| fits && zero_points.iter().all(|point| *point == 0))?;
        Some(Self { bytes: bytes.clone(), scales, sizes })
    }

    /// The weights of a value that is dequantized from an int8 constant, by tensor or by output channel.
    pub fn of(links: &Links<'_>, id: ValueId) -> Option<Self> {
        let node = links.maker(id)?;
        match (node.operator.as_str(), &node.arguments[..]) {
            (
                "quantized_decomposed.dequantize_per_channel.default",
                [Argument::Value(bytes), Argument::Value(scales), zero_points, Argument::Int(0), ..],
            ) => {
                let zero_points = match zero_points {
                    Argument::Value(id) => integers(links, *id)?,
                    _ => Vec::new(),
                };
                Self::new(links, *bytes, floats(links, *scales)?, &zero_points)
            }
            (
                "quantized_decomposed.dequantize_per_tensor.default",
                [Argument::Value(bytes), Argument::Float(scale), Argument::Int(zero_point), ..],
            ) => {
                let channels = usize::try_from(*links.graph.spec(*bytes).sizes.first()?).ok()?;
                Self::new(links, *bytes, vec![*scale as f32; channels], &[*zero_point])
            }
            _ => None,
        }
    }
}

/// The elements of a constant or dequantized constant, in the memory order of the value's spec.
pub fn constant_of(links: &Links<'_>, id: ValueId) -> Option<ConstantData> {
    match links.graph.constant(id) {
        Some(data) => Some(data.clone()),
        None => {
            let node = links.maker(id).filter(|node| dequantizes_constants(links, node))?;
            evaluate_constant(links.graph, node)
        }
    }
}

/// Whether a node dequantizes constants only.
pub fn dequantizes_constants(links: &Links<'_>, node: &Node) -> bool {
    let is_constant = |id| links.graph.constant(id).is_some();
    node.operator.name().starts_with("dequantize_") && node.uses().all(is_constant)
}

/// Whether the elements of a value are those of a constant or dequantized constant, which lowering can compute.
pub fn is_known(links: &Links<'_>, id: ValueId) -> bool {
    links.graph.constant(id).is_some() || links.maker(id).is_some_and(|node| dequantizes_constants(links, node))
}

/// The elements of a floating-point constant or dequantized constant.
pub fn floats(links: &Links<'_>, id: ValueId) -> Option<Vec<f32>> {
    let data = constant_of(links, id)?;
    match links.graph.spec(id).scalar_type {
        ScalarType::Float => Some(reals::floats(data.bytes())),
        ScalarType::Double => Some(reals::doubles(data.bytes())),
        _ => None,
    }
}

/// The elements of an integer constant.
pub fn integers(links: &Links<'_>, id: ValueId) -> Option<Vec<i64>> {
    etbuild_weights::integers::read(links.graph.spec(id).scalar_type, links.graph.constant(id)?.bytes())
}
