//! Everything that keeps the elements in their order: `aten.view`; and broadcasting.

use etbuild_ir::Argument;

use crate::edit::{Call, Editor, Rewritten, wide};

/// Any operator that gives its first argument the shape of the output.
pub fn reshape(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.view(call.value(0)?, &call.output()?.sizes)?])
}

/// `view(self, size)` with every size written out.
pub fn view(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let arguments = vec![Argument::Value(call.value(0)?), wide(&output.sizes)];
    Ok(editor.keep(Call { operator: call.operator.clone(), arguments, outputs: vec![output] }))
}

/// `expand_as(self, other)`.
pub fn expand(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.expand(call.value(0)?, &call.output()?.sizes)?])
}
