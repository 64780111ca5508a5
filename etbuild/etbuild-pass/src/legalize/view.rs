//! Views become copies. The memory plan elides the copies that need no bytes moved.

use etbuild_ir::{Argument, OperatorName};

use crate::edit::{Call, Editor, Rewritten};

/// `name` becomes `name_copy`.
pub fn copy(editor: &mut Editor, call: &Call) -> Rewritten {
    let operator = OperatorName::aten(&format!("{}_copy", call.operator.name()), call.operator.overload());
    Ok(editor.keep(Call { operator, arguments: call.arguments.clone(), outputs: call.outputs.clone() }))
}

/// Operators that change only the shape become `view_copy`.
pub fn reshape(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let arguments = vec![Argument::Value(call.value(0)?), crate::edit::wide(&output.sizes)];
    Ok(vec![editor.call("view_copy.default", arguments, output)?])
}
