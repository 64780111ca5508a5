//! Reshaping (`aten.view`) and broadcasting.

use etbuild_ir::{Argument, Size};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten, wide};

/// Operators that give the first argument the shape of the output, with the dynamic sizes in the order of the argument.
pub fn reshape(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.view_like(call.value(0)?, &call.output()?)?])
}

/// `atleast_1d(tensors)`, `atleast_2d` and `atleast_3d`.
pub fn reshape_each(editor: &mut Editor, call: &Call) -> Rewritten {
    call.values(0)?.into_iter().zip(&call.outputs).map(|(value, output)| editor.view_like(value, output)).collect()
}

/// `flatten(self, start_dim, end_dim)`.
pub fn flatten(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let dims = editor.dims(input);
    if dims.is_empty() {
        return reshape(editor, call);
    }
    let (start, end) = (call.dim(1, dims.len())?, call.dim(2, dims.len())?);
    let (Some(outer), Some(joined), Some(inner)) = (dims.get(..start), dims.get(start..=end), dims.get(end + 1..))
    else {
        return Err(Reason::Arguments);
    };
    Ok(vec![editor.view_as(input, &[outer, &[Dim::product(joined)], inner].concat())?])
}

/// `ravel(self)`.
pub fn ravel(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let count = Dim::product(&editor.dims(input));
    Ok(vec![editor.view_as(input, &[count])?])
}

/// `unflatten(self, dim, sizes)`.
pub fn unflatten(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    if !output.is_dynamic() {
        return reshape(editor, call);
    }
    let given: Vec<Size> = match call.argument(2)? {
        Argument::Sizes(sizes) => sizes.clone(),
        _ => call.ints(2)?.iter().copied().map(Size::Fixed).collect(),
    };
    let dims = editor.dims(input);
    let dim = call.dim(1, dims.len())?;
    let mut sizes = Vec::new();
    for (index, size) in dims.into_iter().enumerate() {
        match index == dim {
            true => sizes.extend(given.iter().copied()),
            false => sizes.push(editor.size(size).ok_or(Reason::Dynamic)?),
        }
    }
    Ok(vec![editor.call("view.default", vec![Argument::Value(input), Argument::sizes(sizes)], output)?])
}

/// `reshape_as(self, other)` and `view_as(self, other)`.
pub fn reshape_as(editor: &mut Editor, call: &Call) -> Rewritten {
    let dims = editor.dims(call.value(1)?);
    Ok(vec![editor.view_as(call.value(0)?, &dims)?])
}

/// Operators with the shape as second argument, such as `reshape(self, shape)`.
pub fn reshape_to(editor: &mut Editor, call: &Call) -> Rewritten {
    if call.output()?.is_dynamic() { Ok(editor.keep_as("view.default", call, 2)) } else { reshape(editor, call) }
}

/// `view(self, size)` with explicit sizes.
pub fn view(editor: &mut Editor, call: &Call) -> Rewritten {
    let (output, input) = (call.output()?, call.value(0)?);
    if output.is_dynamic() {
        return Ok(editor.keep_as("view.default", call, 2));
    }
    let arguments = vec![Argument::Value(input), wide(&output.sizes)];
    Ok(editor.keep(Call { operator: call.operator.clone(), arguments, outputs: vec![output] }))
}

/// `expand_as(self, other)`.
pub fn expand(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, other) = (call.value(0)?, call.value(1)?);
    let dims = editor.dims(other);
    Ok(vec![editor.expand_as(input, &dims)?])
}

/// `resize(self, size)` and `resize_as(self, the_template)` to at most as many elements: the first elements in a new shape.
pub fn first_elements(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let flat = editor.flattened(input)?;
    if output.is_dynamic() || output.numel() > editor.spec(input).numel() {
        return Err(Reason::Unsupported("`resize` to more elements, which would be undefined"));
    }
    let part = editor.slice(flat, 0, 0, output.numel() as i64)?;
    Ok(vec![editor.view(part, &output.sizes)?])
}
