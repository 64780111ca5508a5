//! The nodes that the backend accepts, and refusals for all other nodes.

use et_core::ScalarType;
use etbuild_backend::int8::pattern::{self, Check, QParams, Width, no, output};
use etbuild_backend::{Refusal, RefusalKind, clamp_limits, dequantizes_constants};
use etbuild_ir::{Links, Node};

use crate::lower;

/// The reason why the backend rejects the node; `None` where the backend accepts.
pub fn refusal(links: &Links<'_>, node: &Node) -> Option<Refusal> {
    check(links, node).err()
}

/// Accepts or rejects a node.
fn check(links: &Links<'_>, node: &Node) -> Check {
    let mentioned = node.uses().chain(node.outputs.first().copied());
    if mentioned.map(|id| links.graph.spec(id)).any(|spec| !spec.is_contiguous()) {
        return Err(no(RefusalKind::Layout, "a tensor is not row-major"));
    }
    match node.operator.name() {
        "quantize_per_tensor" => quantize(links, node),
        "dequantize_per_tensor" | "dequantize_per_channel" => dequantize(links, node),
        _ if pattern::is_function(node) => function(links, node),
        _ if lower::has_rule(node) => lower::check(links, node),
        _ => Err(no(RefusalKind::Operator, "the NPU has no int8 form of the operator")),
    }
}

fn is_int8(qparams: QParams) -> bool {
    qparams.width == Width::Int8
}

/// Accepts the quantization of the NPU's results; the NPU has no floating point.
fn quantize(links: &Links<'_>, node: &Node) -> Check {
    let from = pattern::first(node).filter(|_| pattern::quantizes(node).is_some_and(is_int8));
    let from = from.ok_or_else(|| no(RefusalKind::Quantization, "the result is not int8 by one scale"))?;
    if links.graph.spec(from).scalar_type != ScalarType::Float {
        return Err(no(RefusalKind::Type, "the operand is not float32"));
    }
    if let Some((_, functions)) = pattern::function(links, from) {
        return functions.first().map_or(Ok(()), |first| pattern::ends_quantized(links, output(first)?, Width::Int8));
    }
    let head = pattern::head(links, from).filter(|head| !pattern::is_function(head));
    match head {
        Some(head) => lower::check(links, head),
        None => Err(no(RefusalKind::Quantization, "the NPU has no floating point, and does not compute the operand")),
    }
}

/// Accepts dequantization of int8 tensors and weights for readers on the NPU.
fn dequantize(links: &Links<'_>, node: &Node) -> Check {
    if !pattern::dequantizes(links, node).is_some_and(|operand| is_int8(operand.qparams))
        && !dequantizes_constants(links, node)
    {
        return Err(no(RefusalKind::Quantization, "the tensor is not int8 with a scale known at build time"));
    }
    let output = output(node)?;
    let readers = links.graph.nodes.iter().filter(|reader| reader.uses().any(|id| id == output));
    let mut first = None;
    for reader in readers {
        match check(links, reader) {
            Ok(()) => return Ok(()),
            Err(refusal) => first = first.or(Some(refusal)),
        }
    }
    Err(first
        .unwrap_or_else(|| no(RefusalKind::Quantization, "the NPU has no floating point, and nothing of it reads")))
}

/// A function of single elements: part of a pattern, or a table.
fn function(links: &Links<'_>, node: &Node) -> Check {
    let output = output(node)?;
    if pattern::function(links, output).is_some_and(|(operand, _)| is_int8(operand.qparams)) {
        return pattern::ends_quantized(links, output, Width::Int8);
    }
    let head = pattern::head(links, output).filter(|_| clamp_limits(node).is_some());
    match head.filter(|head| !std::ptr::eq(*head, node)) {
        Some(head) if !pattern::is_function(head) => lower::check(links, head),
        _ => Err(no(RefusalKind::Quantization, "neither the operand is int8 nor the producer of the operand fuses")),
    }
}
