//! The operators that the backend takes, and refusals for all other nodes.

use et_core::ScalarType;
use etbuild_backend::{Refusal, RefusalKind};
use etbuild_ir::{Argument, Links, Node, ValueId};

use crate::call::{Call, dim};
use crate::lower::{FLOAT, rule};
use crate::{Problem, constant};

/// The check of an operator's nodes: a refusal, or `None` for a supported node.
pub type Check = fn(&Call<'_>) -> Option<Refusal>;

/// The maximum rank of an instruction's tensors.
const MOST_DIMENSIONS: usize = 8;

/// The refusal of a node; `None` for a supported node.
pub fn refusal(links: &Links<'_>, node: &Node) -> Option<Refusal> {
    let (graph, call) = (links.graph, Call::new(links, node));
    let Some(rule) = rule(node) else {
        return no(RefusalKind::Operator, format!("there is no `{}`", node.operator));
    };
    let values = || node.uses().chain(node.outputs.iter().copied());
    if values().any(|id| graph.number(id).is_some()) {
        return no(RefusalKind::Control, "it works on numbers");
    }
    if values().any(|id| graph.spec(id).is_dynamic()) {
        return no(RefusalKind::DynamicShape, "a size is known at run time only");
    }
    if values().any(|id| graph.spec(id).rank() > MOST_DIMENSIONS) {
        return no(RefusalKind::Shape, "there are more than eight dimensions");
    }
    if values().any(|id| graph.spec(id).numel() == 0) {
        return no(RefusalKind::Shape, "there are no elements");
    }
    if node.arguments.iter().any(|argument| matches!(argument, Argument::Sizes(_))) {
        return no(RefusalKind::DynamicShape, "a size is computed");
    }
    (rule.check)(&call)
}

fn no(kind: RefusalKind, reason: impl Into<String>) -> Option<Refusal> {
    Some(Refusal::new(kind, reason))
}

/// An argument that a check reads; a missing argument is a refusal.
fn asked<T>(answer: Result<T, Problem>) -> Result<T, Refusal> {
    answer.map_err(|problem| Refusal::new(RefusalKind::Argument, problem.to_string()))
}

/// The refusal of a finished check.
fn refused(check: Result<Option<Refusal>, Refusal>) -> Option<Refusal> {
    check.unwrap_or_else(Some)
}

/// Views move no elements, so every dtype is supported.
pub fn view(call: &Call<'_>) -> Option<Refusal> {
    let is_quantized_or_complex = |id: ValueId| call.graph.spec(id).scalar_type.size() > 8;
    let odd = call.node.uses().any(is_quantized_or_complex);
    if odd { no(RefusalKind::Type, "elements are larger than eight bytes") } else { None }
}

/// Dequantizing constants.
pub fn known(call: &Call<'_>) -> Option<Refusal> {
    let is_known = constant::dequantizes_constants(call.links, call.node);
    if is_known { None } else { no(RefusalKind::Constant, "its bytes, scales or zero points are computed") }
}

/// Quantizing to the full int8 range with per-tensor qparams.
pub fn bytes(call: &Call<'_>) -> Option<Refusal> {
    let is_float_or_byte = |id: ValueId| matches!(call.graph.spec(id).scalar_type, FLOAT | ScalarType::Char);
    let ends = [call.int(3), call.int(4)];
    if !call.node.uses().chain(call.node.outputs.iter().copied()).all(is_float_or_byte) {
        return no(RefusalKind::Type, "it makes signed bytes of float32, or the other way round");
    }
    match (ends, call.number(1), call.int(2)) {
        ([Ok(Some(-128)), Ok(Some(127))], Ok(Some(scale)), Ok(Some(-128..=127))) if scale > 0.0 => None,
        _ if constant::dequantizes_constants(call.links, call.node) => None,
        _ => no(RefusalKind::Argument, "it does not use all bytes from -128 to 127, by one scale and zero point"),
    }
}

/// Padding by zero elements.
pub fn padding(call: &Call<'_>) -> Option<Refusal> {
    match call.ints(1) {
        Ok(padding) if padding.iter().all(|count| *count == 0) => view(call),
        _ => no(RefusalKind::Argument, "it adds elements"),
    }
}

/// All tensors are f32.
pub fn floats(call: &Call<'_>) -> Option<Refusal> {
    let ids = call.node.uses().chain(call.node.outputs.first().copied());
    let other = ids.map(|id| call.graph.spec(id).scalar_type).find(|scalar_type| *scalar_type != FLOAT)?;
    no(RefusalKind::Type, format!("it computes in float32, not in {}", other.name()))
}

/// Two tensors, or a tensor and a number.
pub fn operands(call: &Call<'_>) -> Option<Refusal> {
    if !matches!(call.node.arguments.first(), Some(Argument::Value(_))) {
        return no(RefusalKind::Argument, "its first operand is a number");
    }
    floats(call)
}

/// Operands are f32 tensors or numbers; the output is a boolean tensor.
pub fn comparison(call: &Call<'_>) -> Option<Refusal> {
    let odd = call.node.uses().map(|id| call.graph.spec(id).scalar_type).find(|scalar_type| *scalar_type != FLOAT);
    match odd {
        Some(other) => no(RefusalKind::Type, format!("it compares float32, not {}", other.name())),
        None if matches!(call.node.arguments.first(), Some(Argument::Value(_))) => None,
        None => no(RefusalKind::Argument, "its first operand is a number"),
    }
}

/// All tensors are boolean.
pub fn truth(call: &Call<'_>) -> Option<Refusal> {
    let mut ids = call.node.uses().chain(call.node.outputs.first().copied());
    let are_truth = ids.all(|id| call.graph.spec(id).scalar_type == ScalarType::Bool);
    if are_truth { None } else { no(RefusalKind::Type, "it works on truth values") }
}

/// A boolean condition and f32 operands.
pub fn choice(call: &Call<'_>) -> Option<Refusal> {
    let scalar_type = |index| call.value(index).map(|id| call.graph.spec(id).scalar_type);
    match [scalar_type(0), scalar_type(1), scalar_type(2)] {
        [Ok(ScalarType::Bool), Ok(FLOAT), Ok(FLOAT)] => None,
        _ => no(RefusalKind::Type, "it chooses between float32 tensors by truth values"),
    }
}

/// Clamp limits are numbers.
pub fn clamp(call: &Call<'_>) -> Option<Refusal> {
    let limits = [1, 2].map(|index| call.number(index));
    if limits.iter().any(|limit| !matches!(limit, Ok(limit) if limit.is_none_or(|limit| !limit.is_nan()))) {
        return no(RefusalKind::Argument, "a limit is a tensor or not a number");
    }
    floats(call)
}

/// The inputs have the dtype of the output.
pub fn concatenation(call: &Call<'_>) -> Option<Refusal> {
    let scalar_type = |id: ValueId| call.graph.spec(id).scalar_type;
    let output = call.node.outputs.first().copied().map(scalar_type);
    let mixed = call.node.uses().any(|id| Some(scalar_type(id)) != output);
    if mixed { no(RefusalKind::Type, "its parts have different types") } else { view(call) }
}

/// Convolution of one or two spatial dimensions with constant weights.
pub fn convolution(call: &Call<'_>) -> Option<Refusal> {
    refused((|| {
        if asked(call.flag(6))? {
            return Ok(no(RefusalKind::Argument, "it is transposed"));
        }
        let rank = asked(call.output_sizes())?.len();
        if !(3..=4).contains(&rank) {
            return Ok(no(RefusalKind::Shape, "images have one or two dimensions"));
        }
        Ok(constants(call, &[1, 2])?.or_else(|| floats(call)))
    })())
}

/// Constant weights.
pub fn linear(call: &Call<'_>) -> Option<Refusal> {
    refused((|| Ok(constants(call, &[1, 2])?.or_else(|| floats(call))))())
}

/// Whether the operands at these positions are constant or absent.
fn constants(call: &Call<'_>, indices: &[usize]) -> Result<Option<Refusal>, Refusal> {
    for index in indices {
        let id = asked(call.optional_value(*index))?;
        if id.is_some_and(|id| !constant::is_known(call.links, id)) {
            return Ok(no(RefusalKind::Constant, "its weights are computed"));
        }
    }
    Ok(None)
}

/// Softmax over the last dimension.
pub fn softmax(call: &Call<'_>) -> Option<Refusal> {
    refused((|| {
        let rank = asked(call.output_sizes())?.len();
        let along = asked(call.dim(1, rank))?;
        let is_last = along + 1 == rank.max(1);
        Ok(if is_last { floats(call) } else { no(RefusalKind::Argument, "it runs along the last dimension only") })
    })())
}

/// LayerNorm with constant weight and bias.
pub fn layer_norm(call: &Call<'_>) -> Option<Refusal> {
    refused((|| Ok(constants(call, &[2, 3])?.or_else(|| floats(call))))())
}

/// RMSNorm with a constant weight.
pub fn rms_norm(call: &Call<'_>) -> Option<Refusal> {
    refused((|| Ok(constants(call, &[2])?.or_else(|| floats(call))))())
}

/// Max pooling with a batch dimension, without indices.
pub fn max_pool(call: &Call<'_>) -> Option<Refusal> {
    let indices_are_read = call.node.outputs.get(1).is_some_and(|indices| call.links.read_count(*indices) > 0);
    if indices_are_read {
        return no(RefusalKind::Argument, "the places of the greatest elements are read");
    }
    image(call)
}

/// Average pooling with a batch dimension and the default divisor.
pub fn avg_pool(call: &Call<'_>) -> Option<Refusal> {
    match (call.int(6), call.flag(4), call.flag(5)) {
        (Ok(None), Ok(true), Ok(true)) => {
            no(RefusalKind::Argument, "windows that stand out are divided by their sizes")
        }
        (Ok(None), ..) => image(call),
        _ => no(RefusalKind::Argument, "its divisor is given"),
    }
}

fn image(call: &Call<'_>) -> Option<Refusal> {
    match call.output_sizes() {
        Ok(sizes) if sizes.len() == 4 => floats(call),
        _ => no(RefusalKind::Shape, "images have no batch dimension"),
    }
}

/// Mean over neighbouring dimensions.
pub fn mean(call: &Call<'_>) -> Option<Refusal> {
    refused((|| {
        let rank = call.graph.spec(asked(call.value(0))?).rank();
        let dims = asked(call.ints(1))?.iter().map(|number| dim(*number, rank)).collect::<Result<Vec<_>, _>>();
        let mut dims = asked(dims)?;
        dims.sort_unstable();
        let neighbours = !dims.is_empty() && dims.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        Ok(if neighbours { floats(call) } else { no(RefusalKind::Argument, "its dimensions are not neighbours") })
    })())
}

/// Embedding lookup in a floating-point table by 64-bit indices.
pub fn embedding(call: &Call<'_>) -> Option<Refusal> {
    refused((|| {
        let indices = call.graph.spec(asked(call.value(1))?).scalar_type;
        let is_long = indices == ScalarType::Long;
        Ok(if is_long { None } else { no(RefusalKind::Type, "its indices are not int64") })
    })())
}

/// Rolls along explicit dimensions.
pub fn roll(call: &Call<'_>) -> Option<Refusal> {
    match (call.ints(1), call.ints(2)) {
        (Ok(shifts), Ok(dims)) if dims.len() == shifts.len() && are_different(call, dims) => view(call),
        _ => no(RefusalKind::Argument, "it rolls all elements as one row, or a dimension twice"),
    }
}

/// Whether the dimension list is nonempty without duplicates.
fn are_different(call: &Call<'_>, dims: &[i64]) -> bool {
    let rank = call.output_sizes().map_or(0, |sizes| sizes.len());
    let mut found: Vec<_> = dims.iter().filter_map(|number| dim(*number, rank).ok()).collect();
    found.sort_unstable();
    found.dedup();
    !dims.is_empty() && found.len() == dims.len()
}

/// Four-dimensional attention, with a floating-point mask.
pub fn attention(call: &Call<'_>) -> Option<Refusal> {
    refused((|| {
        let ranks = [0, 1, 2].map(|index| call.value(index).map(|id| call.graph.spec(id).rank()));
        if ranks.iter().any(|rank| *rank != Ok(4)) {
            return Ok(no(RefusalKind::Shape, "queries, keys and values do not all have four dimensions"));
        }
        let sizes = |index| Ok::<_, Refusal>(call.sizes(asked(call.value(index))?));
        let (query, key, value) = (sizes(0)?, sizes(1)?, sizes(2)?);
        if query[0] != key[0] || query[1] != key[1] || key[..3] != value[..3] || query[3] != value[3] {
            return Ok(no(RefusalKind::Shape, "queries, keys and values differ in batches, heads or depth"));
        }
        let mask = asked(call.optional_value(3))?;
        let others = call.node.uses().filter(|id| Some(*id) != mask).chain(call.node.outputs.first().copied());
        let is_odd = |id: &ValueId| call.graph.spec(*id).scalar_type != FLOAT;
        let is_mask = |id: ValueId| matches!(call.graph.spec(id).scalar_type, FLOAT | ScalarType::Bool);
        if others.collect::<Vec<_>>().iter().any(is_odd) || !mask.is_none_or(is_mask) {
            return Ok(no(RefusalKind::Type, "it computes in float32, with a mask of that or of truth values"));
        }
        Ok(None)
    })())
}
