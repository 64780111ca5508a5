//! Circular padding.

use etbuild_ir::ValueId;

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `pad(self, pad, "circular")`: along each dimension the end, the whole, the start.
pub fn pad(editor: &mut Editor, call: &Call) -> Rewritten {
    let mut padded = call.value(0)?;
    let rank = editor.spec(padded).rank();
    for (index, widths) in call.ints(1)?.chunks(2).enumerate() {
        let dim = rank.checked_sub(index + 1).ok_or(Reason::Arguments)?;
        let [before, behind] = *widths else { return Err(Reason::Arguments) };
        padded = along(editor, padded, dim, [before, behind])?;
    }
    Ok(vec![padded])
}

fn along(editor: &mut Editor, input: ValueId, dim: usize, [before, behind]: [i64; 2]) -> Result<ValueId, Reason> {
    if before < 0 || behind < 0 {
        return Err(Reason::Unsupported("a negative circular padding"));
    }
    let mut output = editor.spec(input).clone();
    let [start, end] = [before, behind].map(|width| i32::try_from(width).map_err(|_| Reason::Arguments));
    let (start, end) = (start?, end?);
    output.grow(dim, start.checked_add(end).ok_or(Reason::Arguments)?).ok_or(Reason::Arguments)?;
    let mut parts = vec![input];
    if before > 0 {
        parts.insert(0, editor.last(input, dim, start)?);
    }
    if behind > 0 {
        parts.push(editor.slice(input, dim, 0, behind)?);
    }
    if parts.len() == 1 { Ok(input) } else { editor.cat(parts, dim, output) }
}
