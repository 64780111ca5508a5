//! Reshaping (`aten.view`) and broadcasting.

use etbuild_ir::Argument;

use crate::edit::{Call, Editor, Rewritten, wide};

/// Operators that give the first argument the shape of the output.
pub fn reshape(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.view_like(call.value(0)?, &call.output()?)?])
}

/// `reshape(self, shape)`.
pub fn reshape_to(editor: &mut Editor, call: &Call) -> Rewritten {
    if call.output()?.is_dynamic() { Ok(editor.keep_as("view.default", call, 2)) } else { reshape(editor, call) }
}

/// `view(self, size)` with explicit sizes.
pub fn view(editor: &mut Editor, call: &Call) -> Rewritten {
    let (output, input) = (call.output()?, call.value(0)?);
    if output.is_dynamic() {
        return Ok(editor.keep_as("view.default", call, 2));
    }
    let arguments = vec![Argument::Value(input), wide(&output.sizes)];
    Ok(editor.keep(Call { operator: call.operator.clone(), arguments, outputs: vec![output] }))
}

/// `expand_as(self, other)`.
pub fn expand(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, other) = (call.value(0)?, call.value(1)?);
    let dims = editor.dims(other);
    Ok(vec![editor.expand_as(input, &dims)?])
}
