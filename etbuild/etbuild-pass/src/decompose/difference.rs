//! `aten.diff`: the difference between neighbours.

use etbuild_ir::{Argument, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `diff(self, n, dim, prepend, append)` for `n` of 1: all elements but the first, minus all elements but the last.
pub fn difference(editor: &mut Editor, call: &Call) -> Rewritten {
    if call.int(1)? != 1 {
        return Err(Reason::Unsupported("`diff` of order 2 or more"));
    }
    let input = call.value(0)?;
    let dim = call.dim(2, editor.spec(input).rank())?;
    let parts = [call.optional_value(3)?, Some(input), call.optional_value(4)?];
    let whole = joined(editor, parts.into_iter().flatten().collect(), dim)?;
    let behind = part(editor, call, whole, dim, (1, i64::MAX))?;
    let before = part(editor, call, whole, dim, (0, -1))?;
    let arguments = vec![Argument::Value(behind), Argument::Value(before), Argument::Int(1)];
    Ok(vec![editor.call("sub.Tensor", arguments, call.output()?)?])
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
    call: &Call,
    whole: ValueId,
    dim: usize,
    (start, end): (i64, i64),
) -> Result<ValueId, Reason> {
    let bounds = [dim as i64, start, end, 1].map(Argument::Int);
    editor.call("slice.Tensor", std::iter::once(Argument::Value(whole)).chain(bounds).collect(), call.output()?)
}
