//! `aten.linear`: a matrix product with the transposed weight.

use etbuild_ir::Argument;

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `linear(input, weight, bias)`: `addmm` or `mm` of the input as a matrix.
pub fn linear(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, weight, bias) = (call.value(0)?, call.value(1)?, call.optional_value(2)?);
    let [features, depth] = editor.sizes(weight)[..] else {
        return Err(Reason::Unsupported("a one-dimensional weight"));
    };
    let dims = editor.dims(input);
    let (_, outer) = dims.split_last().ok_or(Reason::Arguments)?;
    let rows = Dim::product(outer);
    let matrix = editor.view_as(input, &[rows, depth.into()])?;
    let weight = editor.transpose(weight)?;
    let product = Dim::spec(call.output()?.scalar_type, &[rows, features.into()]);
    let made = match bias {
        None => editor.call("mm.default", vec![Argument::Value(matrix), Argument::Value(weight)], product)?,
        Some(bias) => {
            let operands = [bias, matrix, weight].map(Argument::Value);
            let arguments = operands.into_iter().chain([Argument::Int(1), Argument::Int(1)]).collect();
            editor.call("addmm.default", arguments, product)?
        }
    };
    let sizes: Vec<Dim> = outer.iter().copied().chain([features.into()]).collect();
    Ok(vec![editor.view_as(made, &sizes)?])
}
