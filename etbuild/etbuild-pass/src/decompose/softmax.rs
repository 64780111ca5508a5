//! `softmax` and `log_softmax` without conversion of the type.

use etbuild_ir::Argument;

use crate::edit::{Call, Editor, Rewritten};

/// `softmax(self, dim, dtype)`.
pub fn softmax(editor: &mut Editor, call: &Call) -> Rewritten {
    converted(editor, call, "_softmax.default")
}

/// `log_softmax(self, dim, dtype)`.
pub fn log_softmax(editor: &mut Editor, call: &Call) -> Rewritten {
    converted(editor, call, "_log_softmax.default")
}

fn converted(editor: &mut Editor, call: &Call, name: &str) -> Rewritten {
    let input = editor.convert(call.value(0)?, call.output()?.scalar_type)?;
    Ok(vec![editor.map(name, input, vec![call.argument(1)?.clone(), Argument::Bool(false)])?])
}

/// `_safe_softmax(self, dim, dtype)`: zeros in rows of negative infinities.
pub fn safe_softmax(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let dim = call.dim(1, output.rank())?;
    let softmax = editor.call("softmax.int", call.arguments.clone(), output.clone())?;
    let largest = editor.reduce("amax.default", input, &[dim], true, vec![])?;
    let masked = editor.compare("eq.Scalar", largest, Argument::Float(f64::NEG_INFINITY))?;
    let zero = editor.number(Argument::Int(0), output.scalar_type)?;
    Ok(vec![editor.choose(masked, zero, softmax, output)?])
}
