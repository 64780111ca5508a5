//! The patterns of static quantization: int8 operands behind dequantization, and results before quantization.
//!
//! A head is a node that a kernel computes. Its result may be clamped, and a residual may be added to it, before it is quantized:
//! the [`Epilogue`]. Every value in between is read once.

use et_core::ScalarType;
use etbuild_ir::{Argument, Links, Node, PerTensor, ValueId};

use crate::{ByteWeights, Refusal, RefusalKind, clamp_limits, floats};

/// The qparams of a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QParams {
    /// The distance between neighbouring values.
    pub scale: f64,
    /// The integer of 0.0.
    pub zero: i32,
    /// The integers.
    pub width: Width,
}

/// The integers of a quantized activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// int8.
    Int8,
    /// int16 without the smallest number; the zero point is 0.
    Int16,
}

/// An int8 tensor that is dequantized.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// The int8 value.
    pub id: ValueId,
    /// The qparams.
    pub qparams: QParams,
}

/// What happens to the result of a head.
#[derive(Clone, Copy, Debug)]
pub struct Epilogue {
    /// The smallest real number.
    pub least: f64,
    /// The greatest real number.
    pub most: f64,
    /// A tensor that is added before the clamp.
    pub residual: Option<Operand>,
    /// The last value before quantization, or the result without quantization.
    pub last: ValueId,
    /// The quantized value and its qparams.
    pub quantized: Option<(ValueId, QParams)>,
}

/// The result of a check.
pub type Check = Result<(), Refusal>;

/// A refusal.
pub fn no(kind: RefusalKind, reason: &str) -> Refusal {
    Refusal::new(kind, reason)
}

/// Qparams of int8 of the whole range, or of symmetric int16.
fn qparams(found: PerTensor) -> Option<QParams> {
    let PerTensor { scale, zero_point, least, most, scalar_type } = found;
    let width = match (scalar_type, least, most) {
        (ScalarType::Char, -128, 127) if (-128..=127).contains(&zero_point) => Width::Int8,
        (ScalarType::Short, -32_767, 32_767) if zero_point == 0 => Width::Int16,
        _ => return None,
    };
    let is_positive = scale > 0.0 && scale.is_finite();
    is_positive.then_some(QParams { scale, zero: zero_point as i32, width })
}

impl Width {
    /// The type of the integers.
    pub const fn scalar_type(self) -> ScalarType {
        match self {
            Self::Int8 => ScalarType::Char,
            Self::Int16 => ScalarType::Short,
        }
    }
}

/// The width of the quantized operands and of the quantized result of a node; `None` without any.
///
/// # Errors
/// A refusal of a node with both widths.
pub fn width(links: &Links<'_>, node: &Node) -> Result<Option<Width>, Refusal> {
    let output = output(node)?;
    let result = epilogue(links, node, output).quantized.map(|(_, qparams)| qparams);
    let operands = node.uses().filter_map(|id| Some(operand(links, id)?.qparams));
    let mut widths = operands.chain(result).map(|qparams| qparams.width);
    let Some(first) = widths.next() else { return Ok(None) };
    let is_same = widths.all(|width| width == first);
    is_same
        .then_some(Some(first))
        .ok_or_else(|| no(RefusalKind::Quantization, "operands and result mix int8 and int16"))
}

/// The first argument, a tensor.
pub fn first(node: &Node) -> Option<ValueId> {
    tensor(node, 0)
}

/// The tensor at a position of the arguments.
pub fn tensor(node: &Node, position: usize) -> Option<ValueId> {
    match node.arguments.get(position) {
        Some(Argument::Value(id)) => Some(*id),
        _ => None,
    }
}

/// The qparams of a node that quantizes a tensor to int8 or int16.
pub fn quantizes(node: &Node) -> Option<QParams> {
    PerTensor::of_quantize(node).and_then(qparams)
}

/// The int8 or int16 tensor of a node that dequantizes a computed tensor.
pub fn dequantizes(links: &Links<'_>, node: &Node) -> Option<Operand> {
    let (found, id) = (PerTensor::of_dequantize(node)?, first(node)?);
    let qparams = qparams(found)?;
    let is_computed = links.graph.constant(id).is_none();
    let fits = links.graph.spec(id).scalar_type == qparams.width.scalar_type() && is_computed;
    fits.then_some(Operand { id, qparams })
}

/// The int8 tensor behind a float value.
pub fn operand(links: &Links<'_>, id: ValueId) -> Option<Operand> {
    dequantizes(links, links.maker(id)?)
}

/// Whether a node is a head whose sums an epilogue takes.
pub fn is_product(node: &Node) -> bool {
    matches!(node.operator.as_str(), "aten.convolution.default" | "aten.linear.default")
}

/// The operands of a sum without a factor.
pub fn addends(node: &Node) -> Option<[ValueId; 2]> {
    let is_plain = matches!(node.arguments.get(2), None | Some(Argument::Int(1)))
        || matches!(node.arguments.get(2), Some(Argument::Float(factor)) if *factor == 1.0);
    let is_sum = node.operator.as_str() == "aten.add.Tensor" && is_plain;
    Some([first(node).filter(|_| is_sum)?, tensor(node, 1)?])
}

/// The residual that a sum adds to the result of a product.
pub fn residual(links: &Links<'_>, node: &Node, product: ValueId) -> Option<Operand> {
    let [left, right] = addends(node)?;
    let other = if left == product { right } else { left };
    let specs = [product, other].map(|id| &links.graph.spec(id).sizes);
    operand(links, other).filter(|_| other != product && specs[0] == specs[1])
}

/// The epilogue of a head that computes `id`.
pub fn epilogue(links: &Links<'_>, head: &Node, id: ValueId) -> Epilogue {
    let (least, most) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut epilogue = Epilogue { least, most, residual: None, last: id, quantized: None };
    // Without quantization there is no kernel for a residual.
    let mut before_residual = None;
    while let Some(reader) = links.only_reader(epilogue.last) {
        let is_first = (epilogue.least, epilogue.most) == (least, most) && epilogue.residual.is_none();
        if let Some(qparams) = quantizes(reader) {
            epilogue.quantized = reader.outputs.first().map(|id| (*id, qparams));
            return epilogue;
        } else if let Some([low, high]) = clamp_limits(reader) {
            (epilogue.least, epilogue.most) = (epilogue.least.max(low).min(high), epilogue.most.max(low).min(high));
        } else if let Some(found) = residual(links, reader, epilogue.last).filter(|_| is_first && is_product(head)) {
            before_residual = Some(epilogue);
            epilogue.residual = Some(found);
        } else {
            break;
        }
        let Some(next) = reader.outputs.first() else { break };
        epilogue.last = *next;
    }
    before_residual.unwrap_or(epilogue)
}

/// The head behind a value, with the epilogue: the way back along the values that [`epilogue`] passes.
pub fn head<'g>(links: &Links<'g>, id: ValueId) -> Option<&'g Node> {
    let mut at = id;
    loop {
        let node = links.maker(at)?;
        at = match (clamp_limits(node), addends(node)) {
            (Some(_), _) if operand(links, first(node)?).is_none() => first(node)?,
            (_, Some(sides)) => {
                let product = sides
                    .into_iter()
                    .find(|side| links.maker(*side).is_some_and(is_product) && residual(links, node, *side).is_some());
                match product {
                    Some(product) if links.read_count(product) == 1 => product,
                    _ => return Some(node),
                }
            }
            _ => return Some(node),
        };
        if links.read_count(at) != 1 {
            return None;
        }
    }
}

/// The functions of single elements between an int8 operand and a value, first to last.
pub fn function<'g>(links: &Links<'g>, id: ValueId) -> Option<(Operand, Vec<&'g Node>)> {
    let (mut at, mut nodes) = (id, Vec::new());
    loop {
        let node = links.maker(at)?;
        if let Some(operand) = dequantizes(links, node) {
            nodes.reverse();
            return Some((operand, nodes));
        }
        is_function(node).then(|| nodes.push(node))?;
        at = first(node)?;
    }
}

/// Operators that compute each element from one element.
const FUNCTIONS: &[&str] = &[
    "aten.abs.default",
    "aten.add.Scalar",
    "aten.clamp.default",
    "aten.elu.default",
    "aten.gelu.default",
    "aten.hardsigmoid.default",
    "aten.hardswish.default",
    "aten.hardtanh.default",
    "aten.leaky_relu.default",
    "aten.mul.Scalar",
    "aten.neg.default",
    "aten.relu.default",
    "aten.sigmoid.default",
    "aten.silu.default",
    "aten.tanh.default",
];

/// Whether a node computes each element from one element of the first argument.
pub fn is_function(node: &Node) -> bool {
    FUNCTIONS.contains(&node.operator.as_str()) && node.uses().count() == 1
}

/// Operators that change the shape only.
const VIEWS: &[&str] = &[
    "aten.alias_copy.default",
    "aten.clone.default",
    "aten.squeeze_copy.dim",
    "aten.squeeze_copy.dims",
    "aten.unsqueeze_copy.default",
    "aten.view_copy.default",
];

/// Whether a node changes the shape only.
pub fn is_view(node: &Node) -> bool {
    VIEWS.contains(&node.operator.as_str())
}

/// Whether weights and bias of a product are known.
pub fn has_weights(links: &Links<'_>, node: &Node) -> bool {
    let weights = tensor(node, 1).and_then(|id| ByteWeights::of(links, id));
    let bias = tensor(node, 2).is_none_or(|id| floats(links, id).is_some());
    weights.is_some() && bias
}

/// The int8 tensor that a node reads first.
///
/// # Errors
/// A refusal.
pub fn int8_operand(links: &Links<'_>, node: &Node) -> Result<Operand, Refusal> {
    let found = first(node).and_then(|id| operand(links, id));
    found.ok_or_else(|| no(RefusalKind::Quantization, "the operand is not quantized to int8"))
}

/// The epilogue of a node whose result must be quantized.
///
/// # Errors
/// A refusal.
pub fn quantized(links: &Links<'_>, node: &Node) -> Result<Epilogue, Refusal> {
    let output = output(node)?;
    let found = epilogue(links, node, output);
    let reason = "the result is not quantized to int8";
    found.quantized.map(|_| found).ok_or_else(|| no(RefusalKind::Quantization, reason))
}

/// The first output of a node.
///
/// # Errors
/// A refusal of a node without outputs.
pub fn output(node: &Node) -> Result<ValueId, Refusal> {
    node.outputs.first().copied().ok_or_else(|| no(RefusalKind::Argument, "the node has no output"))
}

/// A value whose readers up to a quantization to the width are functions of single elements, which a table computes.
///
/// # Errors
/// A refusal.
pub fn ends_quantized(links: &Links<'_>, mut value: ValueId, width: Width) -> Check {
    loop {
        match links.only_reader(value) {
            Some(reader) if quantizes(reader).is_some_and(|qparams| qparams.width == width) => return Ok(()),
            Some(reader) if is_function(reader) => value = output(reader)?,
            _ => return Err(no(RefusalKind::Quantization, "the result is not quantized to int8")),
        }
    }
}

/// A node that moves elements: operand and result have equal qparams.
///
/// # Errors
/// A refusal.
pub fn moves(links: &Links<'_>, node: &Node) -> Check {
    let (operand, epilogue) = (int8_operand(links, node)?, quantized(links, node)?);
    let is_direct = epilogue.last == output(node)?;
    let keeps = is_direct && epilogue.quantized.is_some_and(|(_, qparams)| qparams == operand.qparams);
    keeps.then_some(()).ok_or_else(|| no(RefusalKind::Quantization, "operand and result have different scales"))
}
