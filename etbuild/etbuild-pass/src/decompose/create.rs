//! New tensors: `aten.full` and `aten.arange.start_step`.

use etbuild_ir::Argument;

use crate::edit::{Call, Editor, Rewritten};

/// Operators with an output of zeros, or of unspecified elements.
pub fn zeros(editor: &mut Editor, call: &Call) -> Rewritten {
    filled(editor, call, Argument::Int(0))
}

/// Operators with an output of ones.
pub fn ones(editor: &mut Editor, call: &Call) -> Rewritten {
    filled(editor, call, Argument::Int(1))
}

/// `full_like(self, value)` and `fill(self, value)`.
pub fn like_second(editor: &mut Editor, call: &Call) -> Rewritten {
    filled(editor, call, call.argument(1)?.clone())
}

/// `new_full(self, size, value)`.
pub fn full_of_size(editor: &mut Editor, call: &Call) -> Rewritten {
    filled(editor, call, call.argument(2)?.clone())
}

/// The output filled with a number. Dynamic sizes are an argument of the call, or else the sizes of the first operand.
pub fn filled(editor: &mut Editor, call: &Call, number: Argument) -> Rewritten {
    let output = call.output()?;
    if !output.is_dynamic() {
        return Ok(vec![editor.full(number, output)?]);
    }
    let given = call.arguments.iter().take(2).find(|argument| matches!(argument, Argument::Sizes(_)));
    let sizes = match given {
        Some(sizes) => sizes.clone(),
        None => {
            let dims = editor.dims(call.value(0)?);
            editor.sizes_argument(&dims)?
        }
    };
    Ok(vec![editor.full_of(sizes, number, output)?])
}

/// `scalar_tensor(value)`.
pub fn scalar(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.full(call.argument(0)?.clone(), call.output()?)?])
}

/// `arange(end)`.
pub fn arange(editor: &mut Editor, call: &Call) -> Rewritten {
    range(editor, call, Argument::Int(0), call.argument(0)?.clone())
}

/// `arange(start, end)`.
pub fn arange_from(editor: &mut Editor, call: &Call) -> Rewritten {
    range(editor, call, call.argument(0)?.clone(), call.argument(1)?.clone())
}

fn range(editor: &mut Editor, call: &Call, start: Argument, end: Argument) -> Rewritten {
    let output = call.output()?;
    let kind = [Argument::Type(output.scalar_type), Argument::Place, Argument::Place, Argument::Bool(false)];
    let arguments = [start, end, Argument::Int(1)].into_iter().chain(kind).collect();
    Ok(vec![editor.call("arange.start_step", arguments, output)?])
}
