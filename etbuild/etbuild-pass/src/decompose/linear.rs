//! `aten.linear`: a matrix product with the transposed weight, as every runtime of program files has it.

use etbuild_ir::{Argument, TensorSpec};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `linear(input, weight, bias)`: `addmm` or `mm` of the input as a matrix.
pub fn linear(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, weight, bias) = (call.value(0)?, call.value(1)?, call.optional_value(2)?);
    let output = call.output()?;
    let [features, depth] = editor.sizes(weight)[..] else {
        return Err(Reason::Unsupported("a weight of one dimension"));
    };
    let rows = rows(&editor.sizes(input))?;
    let matrix = editor.view(input, &[rows, depth])?;
    let weight = editor.transpose(weight)?;
    let product = TensorSpec::contiguous(output.scalar_type, [rows, features]);
    let made = match bias {
        None => editor.call("mm.default", vec![Argument::Value(matrix), Argument::Value(weight)], product)?,
        Some(bias) => {
            let operands = [bias, matrix, weight].map(Argument::Value);
            let arguments = operands.into_iter().chain([Argument::Int(1), Argument::Int(1)]).collect();
            editor.call("addmm.default", arguments, product)?
        }
    };
    Ok(vec![editor.view(made, &output.sizes)?])
}

/// The number of rows once all dimensions but the last are one.
fn rows(sizes: &[i32]) -> Result<i32, Reason> {
    let (_, outer) = sizes.split_last().ok_or(Reason::Arguments)?;
    outer.iter().try_fold(1_i32, |rows, size| rows.checked_mul(*size)).ok_or(Reason::Arguments)
}
