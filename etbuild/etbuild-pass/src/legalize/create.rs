//! Tensors made of nothing: their type and place are those of the output.

use crate::edit::{Call, Editor, Rewritten};

/// `full(size, value, ...)`.
pub fn full(editor: &mut Editor, call: &Call) -> Rewritten {
    first(editor, call, 2)
}

/// `arange(start, end, step, ...)`.
pub fn arange(editor: &mut Editor, call: &Call) -> Rewritten {
    first(editor, call, 3)
}

/// The call with only its first arguments.
fn first(editor: &mut Editor, call: &Call, count: usize) -> Rewritten {
    let arguments = call.arguments.iter().take(count).cloned().collect();
    Ok(editor.keep(Call { operator: call.operator.clone(), arguments, outputs: call.outputs.clone() }))
}
