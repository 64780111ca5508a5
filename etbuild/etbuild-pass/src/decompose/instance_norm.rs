//! Normalization by statistics of the input.

use etbuild_ir::{Argument, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `instance_norm(input, weight, bias, mean, var, use_input_stats, momentum, eps, cudnn)`: batch and channels become
/// the channels of a single item; then scale and shift.
pub fn instance_norm(editor: &mut Editor, call: &Call) -> Rewritten {
    if !call.flag(5)? {
        let arguments = [0, 1, 2, 3, 4].map(|index| call.argument(index).cloned());
        let rest = [Ok(Argument::Bool(false)), call.argument(6).cloned(), call.argument(7).cloned()];
        let cudnn = [Ok(Argument::Bool(false))];
        let arguments = arguments.into_iter().chain(rest).chain(cudnn).collect::<Result<_, _>>()?;
        return Ok(vec![editor.call("batch_norm.default", arguments, call.output()?)?]);
    }
    let input = call.value(0)?;
    let dims = editor.dims(input);
    let [batch, channels, pixels @ ..] = &dims[..] else { return Err(Reason::Arguments) };
    let instances = Dim::product(&[*batch, *channels]);
    let sizes: Vec<Dim> = [1.into(), instances].into_iter().chain(pixels.iter().copied()).collect();
    let instances = editor.view_as(input, &sizes)?;
    let normal = by_own(editor, [instances.into(), None, None], call, 7)?;
    let normal = editor.view_as(normal, &dims)?;
    let per_channel: Vec<i32> = std::iter::once(channels.fixed()?).chain(pixels.iter().map(|_| 1)).collect();
    let scaled = with_channels(editor, "mul.Tensor", normal, call.optional_value(1)?, &per_channel)?;
    Ok(vec![with_channels(editor, "add.Tensor", scaled, call.optional_value(2)?, &per_channel)?])
}

/// `batch_norm(input, weight, bias, ...)` without running statistics.
pub fn batch_norm(editor: &mut Editor, call: &Call) -> Rewritten {
    let tensors = [Some(call.value(0)?), call.optional_value(1)?, call.optional_value(2)?];
    Ok(vec![by_own(editor, tensors, call, 7)?])
}

/// Normalizes with input, weight and bias. The epsilon is argument `epsilon` of the call.
fn by_own(editor: &mut Editor, tensors: [Option<ValueId>; 3], call: &Call, epsilon: usize) -> Result<ValueId, Reason> {
    let output = editor.spec(tensors[0].ok_or(Reason::Arguments)?).clone();
    let channels = *Dim::of(&output).get(1).ok_or(Reason::Arguments)?;
    let statistics = Dim::spec(output.scalar_type, &[channels]);
    let settings = [Argument::Bool(true), Argument::Float(0.0), call.argument(epsilon)?.clone()];
    let tensors = tensors.map(|tensor| tensor.map_or(Argument::None, Argument::Value));
    let arguments = tensors.into_iter().chain(settings).collect();
    let outputs = vec![output, statistics.clone(), statistics];
    let made = editor.call_many("_native_batch_norm_legit.no_stats", arguments, outputs)?;
    made.first().copied().ok_or(Reason::Arguments)
}

fn with_channels(
    editor: &mut Editor,
    name: &str,
    normal: ValueId,
    per_channel: Option<ValueId>,
    sizes: &[i32],
) -> Result<ValueId, Reason> {
    let Some(per_channel) = per_channel else { return Ok(normal) };
    let per_channel = editor.view(per_channel, sizes)?;
    let alpha = if name.starts_with("add") { vec![Argument::Int(1)] } else { vec![] };
    editor.map(name, normal, std::iter::once(Argument::Value(per_channel)).chain(alpha).collect())
}
