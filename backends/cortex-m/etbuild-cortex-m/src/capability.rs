//! The nodes that the backend accepts, and refusals for all other nodes.

use et_core::ScalarType;
use etbuild_backend::{Refusal, RefusalKind, clamp_limits, dequantizes_constants};
use etbuild_ir::{Links, Node};

use crate::lower::{arithmetic, concatenation, int16, pool, product, recurrent, row, slice};
use etbuild_backend::int8::pattern::{self, Check, Width, first, moves, no, output};

/// The reason why the backend rejects the node; `None` where the backend accepts.
pub fn refusal(links: &Links<'_>, node: &Node) -> Option<Refusal> {
    check(links, node).err()
}

/// Accepts or rejects a node.
pub fn check(links: &Links<'_>, node: &Node) -> Check {
    let mentioned = node.uses().chain(node.outputs.first().copied());
    if mentioned.map(|id| links.graph.spec(id)).any(|spec| !spec.is_contiguous()) {
        return Err(no(RefusalKind::Layout, "a tensor is not row-major"));
    }
    match node.operator.name() {
        "quantize_per_tensor" => quantize(links, node),
        "dequantize_per_tensor" | "dequantize_per_channel" => dequantize(links, node),
        _ if pattern::is_view(node) => view(links, node),
        _ if pattern::is_function(node) => function(links, node),
        "cat" => concatenation::check(links, node),
        "slice_copy" => slice::check(links, node),
        _ if pattern::width(links, node)? == Some(Width::Int16) => int16::check(links, node),
        _ if pattern::is_product(node) => product::check(links, node),
        "add" | "sub" | "mul" => arithmetic::check(links, node),
        "mean" | "avg_pool2d" | "max_pool2d_with_indices" => pool::check(links, node),
        "_softmax" => row::check(links, node),
        "lstm" | "gru" => recurrent::check(links, node),
        _ => Err(no(RefusalKind::Operator, "there is no int8 kernel for the operator")),
    }
}

fn quantize(links: &Links<'_>, node: &Node) -> Check {
    let computed = first(node).filter(|id| links.graph.constant(*id).is_none());
    let is_float = computed.is_some_and(|id| links.graph.spec(id).scalar_type == ScalarType::Float);
    match pattern::quantizes(node) {
        Some(qparams) if is_float => keeps_width(links, node, qparams.width),
        _ => Err(no(
            RefusalKind::Quantization,
            "the tensor does not become int8 or int16 by a scale known at build time",
        )),
    }
}

/// Whether a function of an integer tensor, if the operand is one, keeps the width.
fn keeps_width(links: &Links<'_>, node: &Node, width: Width) -> Check {
    let function = first(node).and_then(|id| pattern::function(links, id));
    let keeps = function.is_none_or(|(operand, _)| operand.qparams.width == width);
    keeps.then_some(()).ok_or_else(|| no(RefusalKind::Quantization, "the result of a table has another width"))
}

/// Accepts dequantization of computed int8 tensors, and of the weights of accepted products.
fn dequantize(links: &Links<'_>, node: &Node) -> Check {
    if pattern::dequantizes(links, node).is_some() {
        return Ok(());
    }
    if !dequantizes_constants(links, node) {
        return Err(no(RefusalKind::Quantization, "the tensor is not int8 or int16 with a scale known at build time"));
    }
    let output = node.outputs.first().copied();
    let reader = output.and_then(|id| links.graph.nodes.get(links.last_reader_position(id)?));
    match reader.filter(|reader| pattern::is_product(reader) || recurrent::is_recurrent(reader)) {
        Some(reader) => check(links, reader),
        None => Err(no(RefusalKind::Constant, "the dequantized constant is not the weight of an int8 kernel")),
    }
}

fn view(links: &Links<'_>, node: &Node) -> Check {
    moves(links, node)
}

/// A function of single elements: part of an epilogue, or a table.
fn function(links: &Links<'_>, node: &Node) -> Check {
    let output = output(node)?;
    if let Some((operand, _)) = pattern::function(links, output) {
        return pattern::ends_quantized(links, output, operand.qparams.width);
    }
    let head = pattern::head(links, output).filter(|_| clamp_limits(node).is_some());
    match head.filter(|head| !std::ptr::eq(*head, node)) {
        Some(head) if !pattern::is_function(head) => check(links, head),
        _ => Err(no(RefusalKind::Quantization, "neither the operand is int8 nor the producer of the operand fuses")),
    }
}
