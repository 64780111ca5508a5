//! Reductions over all dimensions, with explicit dimensions.

use etbuild_ir::{Argument, TensorSpec};

use super::finite::instead;
use crate::Reason;
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
    let added = sizes.len().checked_sub(output.rank()).ok_or(Reason::Arguments)?;
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
    let mut input = call.value(0)?;
    if editor.spec(input).scalar_type.is_float() {
        let mask = editor.test("isnan", input)?;
        input = instead(editor, mask, 0.0, input)?;
    }
    let arguments = std::iter::once(Argument::Value(input)).chain(call.arguments.iter().skip(1).cloned()).collect();
    Ok(vec![editor.call("sum.dim_IntList", arguments, call.output()?)?])
}

/// `trace(self)`: the sum of the diagonal.
pub fn trace(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let input = editor.convert(call.value(0)?, output.scalar_type)?;
    let count = editor.sizes(input).into_iter().min().ok_or(Reason::Arguments)?;
    let spec = TensorSpec::contiguous(output.scalar_type, [count]);
    let arguments = [0, 0, 1].map(Argument::Int);
    let arguments = std::iter::once(Argument::Value(input)).chain(arguments).collect();
    let diagonal = editor.call("diagonal.default", arguments, spec)?;
    Ok(vec![editor.sum(diagonal, &[0], false)?])
}
