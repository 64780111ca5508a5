//! Matches the offsets of blockwise weights, spelled out: the sum of a linear layer and of the product of the means of the blocks of its
//! input with the offsets. The blockwise GEMM has the row sums of blocks, and adds the offsets itself.

use std::collections::BTreeMap;

use et_core::ScalarType;
use etbuild_ir::{Argument, ConstantData, Links, Node, ValueId};

use super::pattern::{is, read_once, value};
use crate::constant;

/// A linear layer with offsets.
pub struct Found<'g> {
    /// The linear layer without the offsets.
    pub linear: &'g Node,
    /// The offsets, each times the elements of a block: `float32 [blocks, columns]`.
    pub offsets: ConstantData,
    /// The output of the sum.
    pub output: ValueId,
    /// The positions of the layer and of the product of the means.
    pub replaced: [usize; 2],
}

/// Every match of a graph, by the position of the sum.
pub fn find_offsets<'g>(links: &Links<'g>) -> BTreeMap<usize, Found<'g>> {
    let nodes = links.graph.nodes.iter().enumerate();
    nodes.filter_map(|(position, node)| Some((position, found(links, node)?))).collect()
}

/// The match of a sum `linear(input, weights, bias) + bmm(mean(view(input)), offsets)`.
fn found<'g>(links: &Links<'g>, sum: &Node) -> Option<Found<'g>> {
    let [Argument::Value(made), Argument::Value(more), Argument::Int(1)] = &sum.arguments[..] else { return None };
    let [made, more] = [*made, *more];
    let is_sum = is(sum, "aten.add.Tensor") && links.graph.spec(made).sizes == links.graph.spec(more).sizes;
    let replaced = [read_once(links, made).filter(|_| is_sum)?, read_once(links, more)?];
    let [linear, product] = replaced.map(|position| links.graph.nodes.get(position));
    let linear = linear.filter(|node| is(node, "aten.linear.default"))?;
    let product = product.filter(|node| is(node, "aten.bmm.default"))?;
    let weights = constant::grouped_weights(links, value(linear, 1)?)?;
    let (means, offsets) = (value(product, 0)?, value(product, 1)?);
    let spec = links.graph.spec(offsets);
    let blocks = i32::try_from(weights.count).ok()?;
    let is_matrix = matches!(spec.sizes[..], [1, count, _] if count == blocks) && spec.is_contiguous();
    // Another adapter has other offsets.
    let is_fixed = constant::name_in_adapter(links, offsets).is_none();
    let fits = is_fixed && is_matrix && spec.scalar_type == ScalarType::Float;
    let elements = links.graph.constant(offsets).filter(|_| fits)?;
    let input = blocks_of_mean(links, means, [weights.count, weights.group])?;
    if input != base(links, float_source(links, value(linear, 0)?)) {
        return None;
    }
    let offsets = elements.clone();
    Some(Found { linear, offsets, output: *sum.outputs.first()?, replaced })
}

/// The tensor of which a value is the means of `count` blocks of `group` elements of each row.
fn blocks_of_mean(links: &Links<'_>, means: ValueId, [count, group]: [usize; 2]) -> Option<ValueId> {
    let mean = links.maker(means).filter(|node| is(node, "aten.mean.dim"))?;
    let blocks = value(mean, 0)?;
    let sizes = &links.graph.spec(blocks).sizes;
    let last = sizes.len() as i64 - 1;
    let is_last = matches!(mean.arguments.get(1), Some(Argument::Ints(dims)) if dims[..] == [-1] || dims[..] == [last]);
    let has_blocks = sizes.ends_with(&[i32::try_from(count).ok()?, i32::try_from(group).ok()?]);
    let keeps = matches!(mean.arguments.get(2), Some(Argument::Bool(true)));
    (is_last && has_blocks && !keeps).then(|| base(links, blocks))
}

/// The tensor behind views, which have the same elements in the same order.
fn base(links: &Links<'_>, mut id: ValueId) -> ValueId {
    let is_view = |node: &&Node| is(node, "aten.view_copy.default");
    while let Some(viewed) = links.maker(id).filter(is_view).and_then(|node| value(node, 0)) {
        id = viewed;
    }
    id
}

/// The dequantization and the quantization of dynamically quantized rows, each with a scale of its own or all with one.
const PAIRS: [[&str; 2]; 2] = [
    ["torchao.dequantize_affine.default", "torchao.quantize_affine.default"],
    ["quantized_decomposed.dequantize_per_tensor.tensor", "quantized_decomposed.quantize_per_tensor.tensor"],
];

/// The `float32` tensor behind dynamically quantized rows, or the tensor itself.
fn float_source(links: &Links<'_>, id: ValueId) -> ValueId {
    let through =
        |id: ValueId, operator: &str| links.maker(id).filter(|node| is(node, operator)).and_then(|node| value(node, 0));
    let mut sources = PAIRS.iter().filter_map(|[dequantize, quantize]| through(through(id, dequantize)?, quantize));
    sources.next().unwrap_or(id)
}
