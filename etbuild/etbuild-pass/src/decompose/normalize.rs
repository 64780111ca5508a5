//! Normalizations with learnt weights.

use etbuild_ir::{Argument, TensorSpec, ValueId};

use super::statistics::norm_of;
use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `batch_norm(input, weight, bias, mean, var, training, momentum, eps, cudnn)` with running statistics, or with
/// statistics of the input where the layer has no running statistics.
pub fn batch_norm(editor: &mut Editor, call: &Call) -> Rewritten {
    if call.flag(5)? && call.optional_value(3)?.is_none() && call.optional_value(4)?.is_none() {
        return super::instance_norm::batch_norm(editor, call);
    }
    if call.flag(5)? || call.optional_value(3)?.is_none() || call.optional_value(4)?.is_none() {
        return Err(Reason::Training);
    }
    let arguments =
        [0, 1, 2, 3, 4, 6, 7].into_iter().map(|index| call.argument(index).cloned()).collect::<Result<_, _>>()?;
    let output = call.output()?;
    let statistics = TensorSpec::contiguous(output.scalar_type, [0]);
    let outputs = vec![output, statistics.clone(), statistics];
    first(editor.call_many("_native_batch_norm_legit_no_training.default", arguments, outputs)?)
}

/// `layer_norm(input, normalized_shape, weight, bias, eps, cudnn)`.
pub fn layer_norm(editor: &mut Editor, call: &Call) -> Rewritten {
    let arguments = (0..5).map(|index| call.argument(index).cloned()).collect::<Result<_, _>>()?;
    let output = call.output()?;
    let kept = output.rank().checked_sub(call.ints(1)?.len()).ok_or(Reason::Arguments)?;
    let mut statistics = output.clone();
    for dim in kept..output.rank() {
        statistics.set_size(dim, 1).ok_or(Reason::Arguments)?;
    }
    let outputs = vec![output, statistics.clone(), statistics];
    first(editor.call_many("native_layer_norm.default", arguments, outputs)?)
}

/// `group_norm(input, groups, weight, bias, eps, cudnn)`.
pub fn group_norm(editor: &mut Editor, call: &Call) -> Rewritten {
    let (output, groups) = (call.output()?, call.int(1)?);
    let dims = editor.dims(call.value(0)?);
    let [batch, channels, area @ ..] = &dims[..] else { return Err(Reason::Arguments) };
    let sizes = [&[*batch][..], &[*channels], area];
    let sizes = sizes.into_iter().map(|dims| editor.product_argument(dims)).collect::<Result<Vec<_>, _>>()?;
    let tensors = [0, 2, 3].into_iter().map(|index| call.argument(index).cloned()).collect::<Result<Vec<_>, _>>()?;
    let numbers = sizes.into_iter().chain([Argument::Int(groups), call.argument(4)?.clone()]);
    let arguments = tensors.into_iter().chain(numbers).collect();
    let groups = i32::try_from(groups).map_err(|_| Reason::Arguments)?;
    let statistics = Dim::spec(output.scalar_type, &[*batch, groups.into()]);
    let outputs = vec![output, statistics.clone(), statistics];
    first(editor.call_many("native_group_norm.default", arguments, outputs)?)
}

/// `_weight_norm(v, g, dim)`: `v` with the norm `g` for each index of `dim`, or as a whole where `dim` is -1.
pub fn weight_norm(editor: &mut Editor, call: &Call) -> Rewritten {
    let (direction, size) = (call.value(0)?, call.value(1)?);
    let rank = editor.spec(direction).rank();
    let kept = if call.int(2)? == -1 { None } else { Some(call.dim(2, rank)?) };
    let dims: Vec<usize> = (0..rank).filter(|dim| Some(*dim) != kept).collect();
    let norm = norm_of(editor, direction, 2.0, &dims, kept.is_some())?;
    let factor = editor.pair("div", size, norm)?;
    Ok(vec![editor.pair("mul", direction, factor)?])
}

/// `rms_norm(input, normalized_shape, weight, eps)`: `input / sqrt(mean(input^2) + eps) * weight`.
pub fn rms_norm(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, weight) = (call.value(0)?, call.optional_value(2)?);
    let eps = match call.argument(3)? {
        Argument::None => smallest_step(editor, input)?,
        _ => call.number(3)?,
    };
    let dims = call.ints(1)?.len() as i64;
    let squares = editor.map("mul.Tensor", input, vec![Argument::Value(input)])?;
    let mut reduced = editor.spec(input).clone();
    for dim in (0..reduced.rank()).rev().take(dims as usize) {
        reduced.set_size(dim, 1).ok_or(Reason::Arguments)?;
    }
    let dims = Argument::Ints((-dims..0).collect());
    let arguments = vec![Argument::Value(squares), dims, Argument::Bool(true), Argument::None];
    let mean = editor.call("mean.dim", arguments, reduced)?;
    let shifted = editor.map("add.Scalar", mean, vec![Argument::Float(eps), Argument::Int(1)])?;
    let scale = editor.map("rsqrt.default", shifted, vec![])?;
    let scaled = editor.map("mul.Tensor", input, vec![Argument::Value(scale)])?;
    match weight {
        Some(weight) => Ok(vec![editor.map("mul.Tensor", scaled, vec![Argument::Value(weight)])?]),
        None => Ok(vec![scaled]),
    }
}

/// The machine epsilon of the type.
fn smallest_step(editor: &Editor, id: ValueId) -> Result<f64, Reason> {
    match editor.spec(id).scalar_type {
        et_core::ScalarType::Float => Ok(f64::from(f32::EPSILON)),
        et_core::ScalarType::Double => Ok(f64::EPSILON),
        _ => Err(Reason::Unsupported("a missing epsilon for this type")),
    }
}

/// The normalized tensor, without the statistics.
fn first(made: Vec<ValueId>) -> Rewritten {
    Ok(made.into_iter().take(1).collect())
}
