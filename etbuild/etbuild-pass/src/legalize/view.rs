//! Views become copies. The memory plan elides the copies that need no bytes moved.

use etbuild_ir::OperatorName;

use crate::edit::{Call, Editor, Rewritten};

/// `name` becomes `name_copy`.
pub fn copy(editor: &mut Editor, call: &Call) -> Rewritten {
    let operator = OperatorName::aten(&format!("{}_copy", call.operator.name()), call.operator.overload());
    Ok(editor.keep(Call { operator, arguments: call.arguments.clone(), outputs: call.outputs.clone() }))
}

/// Operators that change only the shape become `view_copy`.
pub fn reshape(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.view_like(call.value(0)?, &call.output()?)?])
}
