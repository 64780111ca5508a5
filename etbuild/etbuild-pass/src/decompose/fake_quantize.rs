//! Rounding to the numbers that integers with a scale and a zero point represent.

use etbuild_ir::{Argument, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max)`, with numbers or tensors of one element. The
/// variants `cachemask` give the mask of elements within the bounds too.
pub fn per_tensor(editor: &mut Editor, call: &Call) -> Rewritten {
    let scalar_type = call.output()?.scalar_type;
    let scale = single(editor, call, 1)?;
    let zero = single(editor, call, 2)?;
    let (scale, zero) = (editor.convert(scale, scalar_type)?, editor.convert(zero, scalar_type)?);
    quantized(editor, call, [scale, zero], [call.number(3)?, call.number(4)?], false)
}

/// A number or a tensor of one element as a tensor of rank 0.
fn single(editor: &mut Editor, call: &Call, index: usize) -> Result<ValueId, Reason> {
    let value = editor.operand(call.argument(index)?, call.output()?.scalar_type)?;
    editor.view(value, &[])
}

/// `fake_quantize_per_channel_affine(self, scale, zero_point, axis, quant_min, quant_max)`. A zero point that is no integer is
/// added before rounding.
pub fn per_channel(editor: &mut Editor, call: &Call) -> Rewritten {
    let (scalar_type, rank) = (call.output()?.scalar_type, call.output()?.rank());
    let axis = call.dim(3, rank)?;
    let is_float = editor.spec(call.value(2)?).scalar_type.is_float();
    let mut along = |index: usize| {
        let vector = editor.convert(call.value(index)?, scalar_type)?;
        editor.along(vector, axis, rank)
    };
    let (scale, zero) = (along(1)?, along(2)?);
    quantized(editor, call, [scale, zero], [call.number(4)?, call.number(5)?], is_float)
}

fn quantized(
    editor: &mut Editor,
    call: &Call,
    [scale, zero]: [ValueId; 2],
    [least, most]: [f64; 2],
    zero_first: bool,
) -> Rewritten {
    let input = call.value(0)?;
    // PyTorch multiplies by the rounded inverse.
    let inverse = editor.apply("reciprocal", scale)?;
    let mut steps = editor.pair("mul", input, inverse)?;
    if zero_first {
        steps = editor.pair("add", steps, zero)?;
        steps = editor.apply("round", steps)?;
    } else {
        steps = editor.apply("round", steps)?;
        steps = editor.pair("add", steps, zero)?;
    }
    let bounds = [least, most].map(Argument::Float).to_vec();
    let clamped = editor.map("clamp.default", steps, bounds)?;
    let distance = editor.pair("sub", clamped, zero)?;
    let mut made = vec![editor.pair("mul", distance, scale)?];
    if call.outputs.len() == 2 {
        made.push(editor.compare("eq.Tensor", steps, Argument::Value(clamped))?);
    }
    Ok(made)
}
