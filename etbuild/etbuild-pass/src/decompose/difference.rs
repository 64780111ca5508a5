//! `aten.diff`: the difference between neighbours.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `diff(self, n, dim, prepend, append)`: `n` times, all elements but the first, minus all elements but the last. Differences of
/// booleans are true where neighbours differ.
pub fn difference(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let dim = call.dim(2, editor.spec(input).rank())?;
    let parts = [call.optional_value(3)?, Some(input), call.optional_value(4)?];
    let whole = joined(editor, parts.into_iter().flatten().collect(), dim)?;
    let mut made = whole;
    for order in 1..=call.int(1)? {
        let mut output = call.output()?;
        let more = i32::try_from(call.int(1)? - order).map_err(|_| Reason::Arguments)?;
        output.grow(dim, more).ok_or(Reason::Arguments)?;
        made = neighbours(editor, made, dim, output)?;
    }
    Ok(vec![made])
}

fn neighbours(editor: &mut Editor, whole: ValueId, dim: usize, output: TensorSpec) -> Result<ValueId, Reason> {
    let behind = part(editor, &output, whole, dim, (1, i64::MAX))?;
    let before = part(editor, &output, whole, dim, (0, -1))?;
    let pair = vec![Argument::Value(behind), Argument::Value(before)];
    if output.scalar_type == ScalarType::Bool {
        return editor.call("logical_xor.default", pair, output);
    }
    editor.call("sub.Tensor", [pair, vec![Argument::Int(1)]].concat(), output)
}

fn joined(editor: &mut Editor, parts: Vec<ValueId>, dim: usize) -> Result<ValueId, Reason> {
    let first = *parts.first().ok_or(Reason::Arguments)?;
    if parts.len() == 1 {
        return Ok(first);
    }
    let mut dims = editor.dims(first);
    let along = parts.iter().map(|part| editor.dims(*part).get(dim).copied());
    let along = along.collect::<Option<Vec<Dim>>>().ok_or(Reason::Arguments)?;
    *dims.get_mut(dim).ok_or(Reason::Arguments)? = Dim::sum(&along);
    let output = Dim::spec(editor.spec(first).scalar_type, &dims);
    editor.cat(parts, dim, output)
}

/// The elements between two positions, which may count from the end.
fn part(
    editor: &mut Editor,
    output: &TensorSpec,
    whole: ValueId,
    dim: usize,
    (start, end): (i64, i64),
) -> Result<ValueId, Reason> {
    let bounds = [dim as i64, start, end, 1].map(Argument::Int);
    editor.call("slice.Tensor", std::iter::once(Argument::Value(whole)).chain(bounds).collect(), output.clone())
}
