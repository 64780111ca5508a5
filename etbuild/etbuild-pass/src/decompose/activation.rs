//! Elementwise activations.

use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `relu6`: clamps to the range 0 to 6.
pub fn relu6(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![between_0_and_6(editor, call.value(0)?)?])
}

/// `hardsigmoid`: `relu6(x + 3) / 6`.
pub fn hardsigmoid(editor: &mut Editor, call: &Call) -> Rewritten {
    let gate = gate(editor, call.value(0)?)?;
    Ok(vec![editor.map("mul.Scalar", gate, vec![Argument::Float(1.0 / 6.0)])?])
}

/// `hardswish`: `x * relu6(x + 3) / 6`.
pub fn hardswish(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let gate = gate(editor, input)?;
    let gated = editor.map("mul.Tensor", input, vec![Argument::Value(gate)])?;
    Ok(vec![editor.map("mul.Scalar", gated, vec![Argument::Float(1.0 / 6.0)])?])
}

/// `silu`: `x * sigmoid(x)`.
pub fn silu(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let gate = editor.map("sigmoid.default", input, vec![])?;
    Ok(vec![editor.map("mul.Tensor", input, vec![Argument::Value(gate)])?])
}

/// `mish`: `x * tanh(log(1 + exp(x)))`.
pub fn mish(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let exponential = editor.map("exp.default", input, vec![])?;
    let softplus = editor.map("log1p.default", exponential, vec![])?;
    let gate = editor.map("tanh.default", softplus, vec![])?;
    Ok(vec![editor.map("mul.Tensor", input, vec![Argument::Value(gate)])?])
}

/// `prelu(self, weight)`: negative elements times the weight of the channel.
pub fn prelu(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, weight, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let mut per_channel = vec![1; output.rank()];
    if let (Some(channel), [size]) = (per_channel.get_mut(1), &editor.sizes(weight)[..]) {
        *channel = *size;
    }
    let weight = editor.view(weight, &per_channel)?;
    let scaled = editor.map("mul.Tensor", input, vec![Argument::Value(weight)])?;
    let mask = TensorSpec { scalar_type: et_core::ScalarType::Bool, ..output.clone() };
    let positive = editor.call("gt.Scalar", vec![Argument::Value(input), Argument::Int(0)], mask)?;
    Ok(vec![editor.call("where.self", [positive, input, scaled].map(Argument::Value).to_vec(), output)?])
}

/// `clamp_min(self, min)`.
pub fn clamp_min(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.map("clamp.default", call.value(0)?, vec![call.argument(1)?.clone(), Argument::None])?])
}

/// `clamp_max(self, max)`.
pub fn clamp_max(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.map("clamp.default", call.value(0)?, vec![Argument::None, call.argument(1)?.clone()])?])
}

fn gate(editor: &mut Editor, of: ValueId) -> Result<ValueId, Reason> {
    let shifted = editor.map("add.Scalar", of, vec![Argument::Int(3), Argument::Int(1)])?;
    between_0_and_6(editor, shifted)
}

fn between_0_and_6(editor: &mut Editor, of: ValueId) -> Result<ValueId, Reason> {
    editor.map("hardtanh.default", of, vec![Argument::Int(0), Argument::Int(6)])
}
