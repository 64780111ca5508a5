//! Operators that only copy or convert.

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// Operators that return their operand, possibly in new memory or with other strides.
pub fn operand(_editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![call.value(0)?])
}

/// `dropout(input, p, train)` at inference, or with a probability of 0 or 1.
pub fn dropout(editor: &mut Editor, call: &Call) -> Rewritten {
    let name = call.operator.name();
    match call.number(1)? {
        _ if !call.flag(2)? => Ok(vec![call.value(0)?]),
        0.0 => Ok(vec![call.value(0)?]),
        1.0 if !name.contains("alpha") => Ok(vec![editor.times(call.value(0)?, 0.0)?]),
        _ => Err(Reason::Training),
    }
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
