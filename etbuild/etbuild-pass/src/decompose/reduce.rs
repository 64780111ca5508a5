//! Reductions over all dimensions, with explicit dimensions.

use etbuild_ir::Argument;

use crate::edit::{Call, Editor, Rewritten};

/// `mean(self, dtype)`.
pub fn mean(editor: &mut Editor, call: &Call) -> Rewritten {
    over_all(editor, call, "mean.dim", vec![Argument::Bool(false), call.argument(1)?.clone()])
}

/// `sum(self, dtype)`.
pub fn sum(editor: &mut Editor, call: &Call) -> Rewritten {
    over_all(editor, call, "sum.dim_IntList", vec![Argument::Bool(false), call.argument(1)?.clone()])
}

/// `max(self)`.
pub fn max(editor: &mut Editor, call: &Call) -> Rewritten {
    over_all(editor, call, "amax.default", vec![Argument::Bool(false)])
}

/// `min(self)`.
pub fn min(editor: &mut Editor, call: &Call) -> Rewritten {
    over_all(editor, call, "amin.default", vec![Argument::Bool(false)])
}

/// `sum_to_size(self, size)`: the sum over the dimensions that a broadcast from `size` added or enlarged.
pub fn sum_to_size(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let input = editor.convert(call.value(0)?, output.scalar_type)?;
    let sizes = editor.sizes(input);
    let added = sizes.len() - output.rank();
    let is_enlarged = |dim: usize| dim < added || sizes[dim] != output.sizes[dim - added];
    let dims: Vec<usize> = (0..sizes.len()).filter(|dim| is_enlarged(*dim)).collect();
    if dims.is_empty() {
        return Ok(vec![input]);
    }
    let sum = editor.sum(input, &dims, true)?;
    Ok(vec![editor.view(sum, &output.sizes)?])
}

fn over_all(editor: &mut Editor, call: &Call, name: &str, rest: Vec<Argument>) -> Rewritten {
    let input = call.value(0)?;
    let dims = Argument::Ints((0..editor.spec(input).rank() as i64).collect());
    let arguments = [Argument::Value(input), dims].into_iter().chain(rest).collect();
    Ok(vec![editor.call(name, arguments, call.output()?)?])
}

/// `nansum(self, dim, keepdim, dtype)`: NaN counts as 0.
pub fn sum_of_numbers(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = without_nan(editor, call)?;
    let arguments = std::iter::once(Argument::Value(input)).chain(call.arguments.iter().skip(1).cloned()).collect();
    Ok(vec![editor.call("sum.dim_IntList", arguments, call.output()?)?])
}

fn without_nan(editor: &mut Editor, call: &Call) -> Result<etbuild_ir::ValueId, crate::Reason> {
    let input = call.value(0)?;
    let spec = editor.spec(input).clone();
    if !spec.scalar_type.is_float() {
        return Ok(input);
    }
    let mask = editor.test("isnan", input)?;
    let zero = editor.number(Argument::Int(0), spec.scalar_type)?;
    editor.choose(mask, zero, input, spec)
}

/// `trace(self)`: the sum of the diagonal.
pub fn trace(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let input = editor.convert(call.value(0)?, output.scalar_type)?;
    let count = editor.sizes(input).into_iter().min().ok_or(crate::Reason::Arguments)?;
    let spec = etbuild_ir::TensorSpec::contiguous(output.scalar_type, [count]);
    let arguments = [0, 0, 1].map(Argument::Int);
    let arguments = std::iter::once(Argument::Value(input)).chain(arguments).collect();
    let diagonal = editor.call("diagonal.default", arguments, spec)?;
    Ok(vec![editor.sum(diagonal, &[0], false)?])
}
