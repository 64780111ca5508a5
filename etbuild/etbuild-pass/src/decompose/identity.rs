//! Operators that only copy or convert.

use crate::edit::{Call, Editor, Rewritten};

/// Operators that return their operand, possibly in new memory or with other strides.
pub fn operand(_editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![call.value(0)?])
}

/// `to` in every form: a conversion where the type changes.
pub fn convert(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.convert(call.value(0)?, call.output()?.scalar_type)?])
}

/// `copy(self, src, non_blocking)`: the source with the type and shape of `self`.
pub fn copy(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let converted = editor.convert(call.value(1)?, output.scalar_type)?;
    let dims = editor.dims(call.value(0)?);
    Ok(vec![editor.expand_as(converted, &dims)?])
}
