//! Splitting along a dimension: `aten.slice` and `aten.select`.

use etbuild_ir::Argument;

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `chunk`, `split` and `split_with_sizes`, with the dimension as last argument: slices with the sizes of the
/// outputs.
pub fn pieces(editor: &mut Editor, call: &Call) -> Rewritten {
    let dim = call.dim(2, editor.spec(call.value(0)?).rank())?;
    along(editor, call, dim)
}

/// `hsplit`, `vsplit` and `dsplit`.
pub fn pieces_of_named_dim(editor: &mut Editor, call: &Call) -> Rewritten {
    let dim = match (call.operator.name(), editor.spec(call.value(0)?).rank()) {
        ("vsplit", _) | (_, 1) => 0,
        ("hsplit", _) => 1,
        _ => 2,
    };
    along(editor, call, dim)
}

fn along(editor: &mut Editor, call: &Call, dim: usize) -> Rewritten {
    let input = call.value(0)?;
    let mut start = 0;
    let mut made = Vec::with_capacity(call.outputs.len());
    for output in &call.outputs {
        let end = start + i64::from(*output.sizes.get(dim).ok_or(Reason::Arguments)?);
        made.push(editor.slice(input, dim, start, end)?);
        start = end;
    }
    Ok(made)
}

/// `unbind(self, dim)`: a `select` per output.
pub fn unbind(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let dim = call.dim(1, editor.spec(input).rank())?;
    let select = |(index, output): (usize, &etbuild_ir::TensorSpec)| {
        let arguments = vec![Argument::Value(input), Argument::Int(dim as i64), Argument::Int(index as i64)];
        editor.call("select.int", arguments, output.clone())
    };
    call.outputs.iter().enumerate().map(select).collect()
}

/// `narrow(self, dim, start, length)`.
pub fn narrow(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let dim = call.dim(1, editor.spec(input).rank())?;
    let (start, length) = (call.int(2)?, call.int(3)?);
    if start < 0 {
        // Counted from the end, wherever that is.
        let count = start.checked_neg().and_then(|count| i32::try_from(count).ok()).ok_or(Reason::Arguments)?;
        let last = editor.last(input, dim, count)?;
        return Ok(vec![editor.slice(last, dim, 0, length)?]);
    }
    let end = start.checked_add(length).ok_or(Reason::Arguments)?;
    Ok(vec![editor.slice(input, dim, start, end)?])
}
