//! Selection by a mask: `aten.where.self`.

use etbuild_ir::{Argument, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `masked_fill(self, mask, value)`.
pub fn fill(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, mask) = (call.value(0)?, call.value(1)?);
    let number = operand(editor, call, 2)?;
    choice(editor, call, [mask, number, input])
}

/// `where(condition, self, other)` with a number as operand.
pub fn choose(editor: &mut Editor, call: &Call) -> Rewritten {
    let operands = [call.value(0)?, operand(editor, call, 1)?, operand(editor, call, 2)?];
    choice(editor, call, operands)
}

fn choice(editor: &mut Editor, call: &Call, operands: [ValueId; 3]) -> Rewritten {
    Ok(vec![editor.call("where.self", operands.map(Argument::Value).to_vec(), call.output()?)?])
}

/// A tensor argument, or a number as a tensor of the type of the output.
fn operand(editor: &mut Editor, call: &Call, index: usize) -> Result<ValueId, Reason> {
    editor.operand(call.argument(index)?, call.output()?.scalar_type)
}
