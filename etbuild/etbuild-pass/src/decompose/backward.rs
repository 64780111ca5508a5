//! Derivatives that exported programs contain.

use crate::edit::{Call, Editor, Rewritten};

/// `native_dropout_backward(grad_output, mask, scale)`.
pub fn dropout(editor: &mut Editor, call: &Call) -> Rewritten {
    let gradient = call.value(0)?;
    let mask = editor.convert(call.value(1)?, call.output()?.scalar_type)?;
    let kept = editor.pair("mul", gradient, mask)?;
    let kept = editor.convert(kept, call.output()?.scalar_type)?;
    Ok(vec![editor.times(kept, call.number(2)?)?])
}

/// `_softmax_backward_data(grad_output, output, dim, input_dtype)`.
pub fn softmax(editor: &mut Editor, call: &Call) -> Rewritten {
    let (gradient, output) = (call.value(0)?, call.value(1)?);
    let dim = call.dim(2, editor.spec(output).rank().max(1))?;
    let product = editor.pair("mul", gradient, output)?;
    let dims: Vec<usize> = if editor.spec(output).rank() == 0 { vec![] } else { vec![dim] };
    let sum = editor.sum(product, &dims, true)?;
    let shared = editor.pair("mul", output, sum)?;
    Ok(vec![editor.pair("sub", product, shared)?])
}
