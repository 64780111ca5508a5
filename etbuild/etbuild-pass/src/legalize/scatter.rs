//! Writing to a part of a tensor: the parts before and behind it around the new one.

use etbuild_ir::{Argument, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten, normal_dim};

/// `slice_scatter(self, src, dim, start, end, step)`.
pub fn slice(editor: &mut Editor, call: &Call) -> Rewritten {
    if call.int(5)? != 1 {
        return Ok(editor.keep(Call {
            operator: call.operator.clone(),
            arguments: call.arguments.clone(),
            outputs: call.outputs.clone(),
        }));
    }
    let (into, source) = (call.value(0)?, call.value(1)?);
    let sizes = editor.sizes(into);
    let dim = call.dim(2, sizes.len())?;
    let size = i64::from(*sizes.get(dim).ok_or(Reason::Arguments)?);
    let start = bound(call.argument(3)?, 0, size)?;
    let end = bound(call.argument(4)?, size, size)?.max(start);
    Ok(vec![between(editor, [into, source], dim, (start, end), size)?])
}

/// `select_scatter(self, src, dim, index)`.
pub fn select(editor: &mut Editor, call: &Call) -> Rewritten {
    let (into, source) = (call.value(0)?, call.value(1)?);
    let mut sizes = editor.sizes(into);
    let dim = call.dim(2, sizes.len())?;
    let size = sizes.get_mut(dim).ok_or(Reason::Arguments)?;
    let whole = i64::from(*size);
    let index = normal_dim(call.int(3)?, usize::try_from(whole).map_err(|_| Reason::Arguments)?)? as i64;
    *size = 1;
    let source = editor.view(source, &sizes)?;
    Ok(vec![between(editor, [into, source], dim, (index, index + 1), whole)?])
}

/// The elements of `into` outside `start..end`, with `source` between them.
fn between(
    editor: &mut Editor,
    [into, source]: [ValueId; 2],
    dim: usize,
    (start, end): (i64, i64),
    size: i64,
) -> Result<ValueId, Reason> {
    let mut parts = Vec::with_capacity(3);
    if start > 0 {
        parts.push(editor.slice(into, dim, 0, start)?);
    }
    parts.push(source);
    if end < size {
        parts.push(editor.slice(into, dim, end, size)?);
    }
    let output = editor.spec(into).clone();
    if parts.len() == 1 { Ok(source) } else { editor.cat(parts, dim, output) }
}

/// A bound of a slice, which may count from the end or lie beyond it.
fn bound(argument: &Argument, absent: i64, size: i64) -> Result<i64, Reason> {
    match argument {
        Argument::None => Ok(absent),
        Argument::Int(value) if *value < 0 => Ok(value.saturating_add(size).max(0)),
        Argument::Int(value) => Ok((*value).min(size)),
        _ => Err(Reason::Arguments),
    }
}
