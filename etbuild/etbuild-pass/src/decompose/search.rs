//! `searchsorted`: places in sorted sequences.

use et_core::ScalarType;
use etbuild_ir::{Argument, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `searchsorted(sorted_sequence, self, out_int32, right, side, sorter)`: `bucketize` for a single sorted sequence, else the number of
/// elements before each place.
pub fn search(editor: &mut Editor, call: &Call) -> Rewritten {
    let (mut sequence, output) = (call.value(0)?, call.output()?);
    let right = match call.argument(4)? {
        Argument::Text(side) => side == "right",
        _ => call.flag(3)?,
    };
    if let Some(sorter) = call.optional_value(5)? {
        let last = editor.spec(sequence).rank().checked_sub(1).ok_or(Reason::Arguments)?;
        sequence = editor.gather(sequence, last, sorter)?;
    }
    let given = editor.operand(call.argument(1)?, editor.spec(sequence).scalar_type)?;
    if editor.spec(sequence).rank() == 1 {
        let kind = [call.argument(2)?.clone(), Argument::Bool(right)];
        let arguments = [given, sequence].map(Argument::Value).into_iter().chain(kind).collect();
        return Ok(vec![editor.call("bucketize.Tensor", arguments, output)?]);
    }
    let before = before(editor, sequence, given, right)?;
    let count = editor.convert(before, ScalarType::Long)?;
    let last = editor.spec(count).rank().checked_sub(1).ok_or(Reason::Arguments)?;
    let count = editor.sum(count, &[last], false)?;
    Ok(vec![editor.convert(count, output.scalar_type)?])
}

/// Whether each element of the sequences is before the place of each given element. NaN is behind all numbers.
fn before(editor: &mut Editor, sequence: ValueId, given: ValueId, right: bool) -> Result<ValueId, Reason> {
    let mut dims: Vec<Dim> = editor.dims(sequence);
    let rank = dims.len();
    dims.insert(rank.checked_sub(1).ok_or(Reason::Arguments)?, 1.into());
    let sequence = editor.view_as(sequence, &dims)?;
    let given = editor.unsqueezed(given, rank)?;
    let name = if right { "gt.Tensor" } else { "ge.Tensor" };
    let behind = editor.compare(name, sequence, Argument::Value(given))?;
    editor.test("logical_not", behind)
}
