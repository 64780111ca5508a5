//! New tensors: type and device are properties of the output.

use crate::edit::{Call, Editor, Rewritten};

/// `full(size, value, ...)`.
pub fn full(editor: &mut Editor, call: &Call) -> Rewritten {
    first(editor, call, 2)
}

/// Operators with the size as only argument, apart from type, layout and device.
pub fn sized(editor: &mut Editor, call: &Call) -> Rewritten {
    first(editor, call, 1)
}

/// `empty(size, ..., memory_format)`.
pub fn empty(editor: &mut Editor, call: &Call) -> Rewritten {
    let arguments = vec![call.argument(0)?.clone(), call.argument(5)?.clone()];
    Ok(editor.keep(Call { operator: call.operator.clone(), arguments, outputs: call.outputs.clone() }))
}

/// `arange(start, end, step, ...)`.
pub fn arange(editor: &mut Editor, call: &Call) -> Rewritten {
    first(editor, call, 3)
}

/// The call with the first arguments only.
fn first(editor: &mut Editor, call: &Call, count: usize) -> Rewritten {
    let arguments = call.arguments.iter().take(count).cloned().collect();
    Ok(editor.keep(Call { operator: call.operator.clone(), arguments, outputs: call.outputs.clone() }))
}
