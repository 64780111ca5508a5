//! Batch normalization in training mode: statistics of the input, and running statistics as results.

use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `native_batch_norm(input, weight, bias, mean, var, training, momentum, eps)` that updates no running statistics.
pub fn batch_norm(editor: &mut Editor, call: &Call) -> Rewritten {
    if !call.flag(5)? {
        let arguments = call.arguments.iter().enumerate().filter(|(index, _)| *index != 5);
        let arguments = arguments.map(|(_, argument)| argument.clone()).collect();
        let name = "_native_batch_norm_legit_no_training.default";
        return editor.call_many(name, arguments, call.outputs.clone());
    }
    if call.optional_value(3)?.is_some() || call.optional_value(4)?.is_some() {
        return Err(Reason::Training);
    }
    by_own(editor, call)
}

/// `_native_batch_norm_legit_functional(input, weight, bias, mean, var, training, momentum, eps)`: also the new running statistics.
pub fn with_running_statistics(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, mean, variance) = (call.value(0)?, call.value(3)?, call.value(4)?);
    let plain = Call { outputs: call.outputs.iter().take(3).cloned().collect(), ..call.clone() };
    if !call.flag(5)? {
        let made = batch_norm(editor, &plain)?;
        return Ok(made.into_iter().chain([mean, variance]).collect());
    }
    let mut made = by_own(editor, &plain)?;
    let dims: Vec<usize> = (0..editor.spec(input).rank()).filter(|dim| *dim != 1).collect();
    let own = editor.reduce("mean.dim", input, &dims, false, vec![Argument::None])?;
    let spec = Dim::spec(editor.spec(input).scalar_type, &editor.dims(own));
    let listed = Argument::Ints(dims.iter().map(|dim| *dim as i64).collect());
    let arguments = vec![Argument::Value(input), listed, Argument::Int(1), Argument::Bool(false)];
    let spread = editor.call("var.correction", arguments, spec)?;
    let momentum = call.number(6)?;
    for (running, own) in [(mean, own), (variance, spread)] {
        made.push(moved(editor, running, own, momentum)?);
    }
    Ok(made)
}

/// The normalized input, the means of the channels, and the reciprocals of their standard deviations.
fn by_own(editor: &mut Editor, call: &Call) -> Rewritten {
    let settings = [Argument::Bool(true), Argument::Float(0.0), call.argument(7)?.clone()];
    let arguments = call.arguments.iter().take(3).cloned().chain(settings).collect();
    let outputs: Vec<TensorSpec> = call.outputs.iter().take(3).cloned().collect();
    editor.call_many("_native_batch_norm_legit.no_stats", arguments, outputs)
}

/// `running + momentum * (own - running)`.
fn moved(editor: &mut Editor, running: ValueId, own: ValueId, momentum: f64) -> Result<ValueId, Reason> {
    let own = editor.convert(own, editor.spec(running).scalar_type)?;
    let kept = editor.times(running, 1.0 - momentum)?;
    let part = editor.times(own, momentum)?;
    editor.pair("add", kept, part)
}
