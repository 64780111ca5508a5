//! The checks of nodes by operator: what the backend supports, and refusals for the rest.

use et_core::ScalarType;
use etbuild_backend::{Call, Refusal, RefusalKind, dequantizes_constants, dim, is_known};
use etbuild_ir::{Argument, ValueId};

use crate::tensor::FLOAT;

/// The check of an operator's nodes.
pub type Check = fn(&Call<'_>) -> Checked;

/// The result of a check.
pub type Checked = Result<(), Refusal>;

/// Refuses a node unless the condition holds.
pub fn ensure(holds: bool, kind: RefusalKind, reason: impl Into<String>) -> Checked {
    if holds { Ok(()) } else { Err(Refusal::new(kind, reason)) }
}

/// The maximum rank of an instruction's tensors.
const MOST_DIMENSIONS: usize = 8;

/// The check of every operator: static tensors with elements, of a rank that instructions have.
pub fn general(call: &Call<'_>) -> Checked {
    let (graph, node) = (call.graph, call.node);
    let values = || node.uses().chain(node.outputs.iter().copied());
    let all = |holds: &dyn Fn(ValueId) -> bool| values().all(holds);
    ensure(all(&|id| graph.number(id).is_none()), RefusalKind::Control, "it works on numbers")?;
    let is_static = all(&|id| !graph.spec(id).is_dynamic());
    ensure(is_static, RefusalKind::DynamicShape, "a size is known at run time only")?;
    let is_small = all(&|id| graph.spec(id).rank() <= MOST_DIMENSIONS);
    ensure(is_small, RefusalKind::Shape, "there are more than eight dimensions")?;
    // Operators have outputs without elements where an argument leaves them out.
    let is_left_out = |id| node.outputs.iter().skip(1).any(|output| *output == id) && call.links.read_count(id) == 0;
    let has_elements = all(&|id| graph.spec(id).numel() != 0 || is_left_out(id));
    ensure(has_elements, RefusalKind::Shape, "there are no elements")?;
    let computes_size = node.arguments.iter().any(|argument| matches!(argument, Argument::Sizes(_)));
    ensure(!computes_size, RefusalKind::DynamicShape, "a size is computed")
}

/// The dtypes of the operands and of the first output.
fn types(call: &Call<'_>) -> impl Iterator<Item = ScalarType> {
    let ids = call.node.uses().chain(call.node.outputs.first().copied());
    ids.map(|id| call.graph.spec(id).scalar_type)
}

/// Views move no elements, so every dtype is supported.
pub fn view(call: &Call<'_>) -> Checked {
    let are_narrow = call.node.uses().all(|id| call.graph.spec(id).scalar_type.size() <= 8);
    ensure(are_narrow, RefusalKind::Type, "elements are larger than eight bytes")
}

/// Dequantizing constants.
pub fn known(call: &Call<'_>) -> Checked {
    let is_known = dequantizes_constants(call.links, call.node);
    ensure(is_known, RefusalKind::Constant, "its bytes, scales or zero points are computed")
}

/// Quantizing to the full int8 range with per-tensor qparams.
pub fn bytes(call: &Call<'_>) -> Checked {
    let mut types = call.node.uses().chain(call.node.outputs.iter().copied()).map(|id| call.graph.spec(id).scalar_type);
    let are_float_or_byte = types.all(|scalar_type| matches!(scalar_type, FLOAT | ScalarType::Char));
    ensure(are_float_or_byte, RefusalKind::Type, "it makes signed bytes of float32, or the other way round")?;
    let is_full_range = matches!([call.int(3), call.int(4)], [Ok(Some(-128)), Ok(Some(127))])
        && matches!(call.number(1), Ok(Some(scale)) if scale > 0.0)
        && matches!(call.int(2), Ok(Some(-128..=127)));
    let reason = "it does not use all bytes from -128 to 127, by one scale and zero point";
    ensure(is_full_range || known(call).is_ok(), RefusalKind::Argument, reason)
}

/// Padding by zero elements.
pub fn padding(call: &Call<'_>) -> Checked {
    let adds_nothing = call.ints(1).is_ok_and(|padding| padding.iter().all(|count| *count == 0));
    ensure(adds_nothing, RefusalKind::Argument, "it adds elements")?;
    view(call)
}

/// All tensors are f32.
pub fn floats(call: &Call<'_>) -> Checked {
    match types(call).find(|scalar_type| *scalar_type != FLOAT) {
        Some(other) => ensure(false, RefusalKind::Type, format!("it computes in float32, not in {}", other.name())),
        None => Ok(()),
    }
}

fn first_is_tensor(call: &Call<'_>) -> Checked {
    let is_tensor = matches!(call.node.arguments.first(), Some(Argument::Value(_)));
    ensure(is_tensor, RefusalKind::Argument, "its first operand is a number")
}

/// Two tensors, or a tensor and a number.
pub fn operands(call: &Call<'_>) -> Checked {
    first_is_tensor(call)?;
    floats(call)
}

/// Operands are f32 tensors or numbers; the output is a boolean tensor.
pub fn comparison(call: &Call<'_>) -> Checked {
    let mut types = call.node.uses().map(|id| call.graph.spec(id).scalar_type);
    if let Some(other) = types.find(|scalar_type| *scalar_type != FLOAT) {
        ensure(false, RefusalKind::Type, format!("it compares float32, not {}", other.name()))?;
    }
    first_is_tensor(call)
}

/// All tensors are boolean.
pub fn truth(call: &Call<'_>) -> Checked {
    let are_truth = types(call).all(|scalar_type| scalar_type == ScalarType::Bool);
    ensure(are_truth, RefusalKind::Type, "it works on truth values")
}

/// A boolean condition and f32 operands.
pub fn choice(call: &Call<'_>) -> Checked {
    let types = [0, 1, 2].map(|index| call.value(index).map(|id| call.graph.spec(id).scalar_type));
    let agrees = types == [Ok(ScalarType::Bool), Ok(FLOAT), Ok(FLOAT)];
    ensure(agrees, RefusalKind::Type, "it chooses between float32 tensors by truth values")
}

/// Clamp limits are numbers.
pub fn clamp(call: &Call<'_>) -> Checked {
    let is_number = |index| call.number(index).is_ok_and(|limit| limit.is_none_or(|limit| !limit.is_nan()));
    ensure([1, 2].into_iter().all(is_number), RefusalKind::Argument, "a limit is a tensor or not a number")?;
    floats(call)
}

/// The inputs have the dtype of the output.
pub fn concatenation(call: &Call<'_>) -> Checked {
    let scalar_type = |id: ValueId| call.graph.spec(id).scalar_type;
    let output = call.node.outputs.first().copied().map(scalar_type);
    let are_equal = call.node.uses().all(|id| Some(scalar_type(id)) == output);
    ensure(are_equal, RefusalKind::Type, "its parts have different types")?;
    view(call)
}

/// Convolution and transposed convolution of one to three spatial dimensions with constant weights.
pub fn convolution(call: &Call<'_>) -> Checked {
    let rank = call.output_sizes()?.len();
    ensure((3..=5).contains(&rank), RefusalKind::Shape, "images have one to three dimensions")?;
    linear(call)
}

/// Constant weights and bias.
pub fn linear(call: &Call<'_>) -> Checked {
    constants(call, &[1, 2])
}

/// f32 with constant or absent operands at these positions.
fn constants(call: &Call<'_>, indices: &[usize]) -> Checked {
    for index in indices {
        let is_known = call.optional_value(*index)?.is_none_or(|id| is_known(call.links, id));
        ensure(is_known, RefusalKind::Constant, "its weights are computed")?;
    }
    floats(call)
}

/// Softmax over the last dimension.
pub fn softmax(call: &Call<'_>) -> Checked {
    let rank = call.output_sizes()?.len();
    let is_last = call.dim(1, rank)? + 1 == rank.max(1);
    ensure(is_last, RefusalKind::Argument, "it runs along the last dimension only")?;
    floats(call)
}

/// The greatest or least elements along the last dimension.
pub fn topk(call: &Call<'_>) -> Checked {
    let rank = call.output_sizes()?.len();
    let is_last = rank > 0 && call.dim(2, rank)? + 1 == rank;
    ensure(is_last, RefusalKind::Argument, "it runs along the last dimension only")?;
    floats(call)
}

/// LayerNorm with constant weight and bias.
pub fn layer_norm(call: &Call<'_>) -> Checked {
    constants(call, &[2, 3])
}

/// RMSNorm with a constant weight.
pub fn rms_norm(call: &Call<'_>) -> Checked {
    constants(call, &[2])
}

/// Max pooling with a batch dimension, without indices.
pub fn max_pool(call: &Call<'_>) -> Checked {
    let indices_are_read = call.node.outputs.get(1).is_some_and(|indices| call.links.read_count(*indices) > 0);
    ensure(!indices_are_read, RefusalKind::Argument, "the places of the greatest elements are read")?;
    image(call)
}

/// Average pooling with a batch dimension and the default divisor.
pub fn avg_pool(call: &Call<'_>) -> Checked {
    ensure(call.int(6) == Ok(None), RefusalKind::Argument, "its divisor is given")?;
    let stands_out = [call.flag(4), call.flag(5)] == [Ok(true), Ok(true)];
    ensure(!stands_out, RefusalKind::Argument, "windows that stand out are divided by their sizes")?;
    image(call)
}

fn image(call: &Call<'_>) -> Checked {
    let rank = if call.node.operator.name().contains("3d") { 5 } else { 4 };
    let is_batch = call.output_sizes().is_ok_and(|sizes| sizes.len() == rank);
    ensure(is_batch, RefusalKind::Shape, "images have no batch dimension")?;
    floats(call)
}

/// Mean over neighbouring dimensions.
pub fn mean(call: &Call<'_>) -> Checked {
    let rank = call.graph.spec(call.value(0)?).rank();
    let mut dims = call.ints(1)?.iter().map(|number| dim(*number, rank)).collect::<Result<Vec<_>, _>>()?;
    dims.sort_unstable();
    let are_neighbours = !dims.is_empty() && dims.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    ensure(are_neighbours, RefusalKind::Argument, "its dimensions are not neighbours")?;
    floats(call)
}

/// Embedding lookup in a floating-point table by 64-bit indices.
pub fn embedding(call: &Call<'_>) -> Checked {
    let indices = call.graph.spec(call.value(1)?).scalar_type;
    ensure(indices == ScalarType::Long, RefusalKind::Type, "its indices are not int64")
}

/// Rolls along explicit dimensions.
pub fn roll(call: &Call<'_>) -> Checked {
    let agrees = match (call.ints(1), call.ints(2)) {
        (Ok(shifts), Ok(dims)) => dims.len() == shifts.len() && are_different(call, dims),
        _ => false,
    };
    ensure(agrees, RefusalKind::Argument, "it rolls all elements as one row, or a dimension twice")?;
    view(call)
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
pub fn attention(call: &Call<'_>) -> Checked {
    let is_image = |index| call.value(index).is_ok_and(|id| call.graph.spec(id).rank() == 4);
    let reason = "queries, keys and values do not all have four dimensions";
    ensure([0, 1, 2].into_iter().all(is_image), RefusalKind::Shape, reason)?;
    let [query, key, value] = [0, 1, 2].map(|index| call.value(index).map(|id| call.sizes(id)));
    let (query, key, value) = (query?, key?, value?);
    let agrees = query[..2] == key[..2] && key[..3] == value[..3] && query[3] == value[3];
    ensure(agrees, RefusalKind::Shape, "queries, keys and values differ in batches, heads or depth")?;
    let (mask, scalar_type) = (call.optional_value(3)?, |id: ValueId| call.graph.spec(id).scalar_type);
    let mut others = call.node.uses().filter(|id| Some(*id) != mask).chain(call.node.outputs.first().copied());
    let are_float = others.all(|id| scalar_type(id) == FLOAT);
    let fits = are_float && mask.is_none_or(|id| matches!(scalar_type(id), FLOAT | ScalarType::Bool));
    ensure(fits, RefusalKind::Type, "it computes in float32, with a mask of that or of truth values")
}
