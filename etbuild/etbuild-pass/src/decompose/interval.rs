//! Numbers between tensors.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `linspace(start, end, steps)` with tensors as ends.
pub fn line(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    if output.is_dynamic() {
        return Err(Reason::Dynamic);
    }
    let mut ends = Vec::new();
    for index in 0..2 {
        let end = editor.operand(call.argument(index)?, output.scalar_type)?;
        ends.push(editor.convert(end, output.scalar_type)?);
    }
    if output.scalar_type.is_integer() {
        return integers_between(editor, &ends, output);
    }
    let [start, end] = ends[..] else { return Err(Reason::Arguments) };
    Ok(vec![between(editor, [start, end], output)?])
}

/// Numbers between two tensors of rank 0, of the type of the tensors.
fn between(editor: &mut Editor, [start, end]: [ValueId; 2], output: TensorSpec) -> Result<ValueId, Reason> {
    let count = output.numel();
    let difference = editor.pair("sub", end, start)?;
    let step = editor.times(difference, 1.0 / (count.max(2) - 1) as f64)?;
    let spec = TensorSpec::contiguous(output.scalar_type, output.sizes.clone());
    let half = count / 2;
    let is_first = |index: usize| index < half || count == 1;
    let weights = (0..count).map(|index| if is_first(index) { index as f64 } else { -((count - 1 - index) as f64) });
    let weights = editor.numbers(spec, weights)?;
    let mask = editor.mask(&output.sizes, (0..count).map(is_first))?;
    let dims = Dim::of(&output);
    let (start, end) = (editor.expand_as(start, &dims)?, editor.expand_as(end, &dims)?);
    let from = editor.choose(mask, start, end, output)?;
    let part = editor.pair("mul", weights, step)?;
    editor.pair("add", from, part)
}

/// Integers between integers: computed in `float64` with a single rounding, like PyTorch's fused multiply-adds, and truncated.
fn integers_between(editor: &mut Editor, ends: &[ValueId], output: TensorSpec) -> Rewritten {
    let count = output.numel();
    let ends: Vec<ValueId> =
        ends.iter().map(|end| editor.convert(*end, ScalarType::Double)).collect::<Result<_, _>>()?;
    let [start, end] = ends[..] else { return Err(Reason::Arguments) };
    let difference = editor.pair("sub", end, start)?;
    let steps = editor.number(Argument::Float((count.max(2) - 1) as f64), ScalarType::Double)?;
    let step = editor.pair("div", difference, steps)?;
    // The products of a count with the upper digits of the step are exact.
    let upper = editor.convert(step, ScalarType::Float)?;
    let upper = editor.convert(upper, ScalarType::Double)?;
    let lower = editor.pair("sub", step, upper)?;
    let spec = TensorSpec { scalar_type: ScalarType::Double, ..output.clone() };
    let is_first = |index: usize| index < count / 2 || count == 1;
    let weights = (0..count).map(|index| if is_first(index) { index as f64 } else { -((count - 1 - index) as f64) });
    let weights = editor.numbers(spec.clone(), weights)?;
    let mask = editor.mask(&output.sizes, (0..count).map(is_first))?;
    let from = editor.choose(mask, start, end, spec)?;
    let (much, little) = (editor.pair("mul", weights, upper)?, editor.pair("mul", weights, lower)?);
    let near = editor.pair("add", from, much)?;
    let exact = editor.pair("add", near, little)?;
    Ok(vec![editor.convert(exact, output.scalar_type)?])
}

/// `logspace(start, end, steps, base)` with tensors as ends: powers of the numbers of `linspace`, in `float64`.
pub fn powers(editor: &mut Editor, call: &Call) -> Rewritten {
    let (output, base) = (call.output()?, call.number(3)?);
    if output.is_dynamic() {
        return Err(Reason::Dynamic);
    }
    let mut ends = Vec::new();
    for index in 0..2 {
        let end = editor.operand(call.argument(index)?, output.scalar_type)?;
        let end = editor.convert(end, output.scalar_type)?;
        ends.push(editor.convert(end, ScalarType::Double)?);
    }
    let [start, end] = ends[..] else { return Err(Reason::Arguments) };
    let spec = TensorSpec { scalar_type: ScalarType::Double, ..output.clone() };
    let exponents = between(editor, [start, end], spec)?;
    let base = editor.number(Argument::Float(base), ScalarType::Double)?;
    let powers = editor.combine("pow.Tensor_Tensor", [base, exponents])?;
    Ok(vec![editor.convert(powers, output.scalar_type)?])
}
