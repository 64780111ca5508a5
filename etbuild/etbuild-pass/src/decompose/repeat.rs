//! Repetition and broadcasting.

use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `tile(self, dims)`: `repeat` with leading ones.
pub fn tile(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, given) = (call.value(0)?, call.ints(1)?);
    let missing = editor.spec(input).rank().saturating_sub(given.len());
    let repeats = std::iter::repeat_n(1, missing).chain(given.iter().copied()).collect();
    Ok(vec![editor.call("repeat.default", vec![Argument::Value(input), Argument::Ints(repeats)], call.output()?)?])
}

/// `repeat_interleave(self, repeats, dim)` with a number: expands a new dimension behind `dim`, then flattens.
pub fn interleave(editor: &mut Editor, call: &Call) -> Rewritten {
    let (mut input, output) = (call.value(0)?, call.output()?);
    let repeats = i32::try_from(call.int(1)?).map_err(|_| Reason::Arguments)?;
    let dim = match call.argument(2)? {
        Argument::None => {
            let count = Dim::product(&editor.dims(input));
            input = editor.view_as(input, &[count])?;
            0
        }
        _ => call.dim(2, output.rank())?,
    };
    let mut dims = editor.dims(input);
    dims.insert(dim + 1, 1.into());
    let apart = editor.view_as(input, &dims)?;
    *dims.get_mut(dim + 1).ok_or(Reason::Arguments)? = repeats.into();
    let repeated = editor.expand_as(apart, &dims)?;
    dims.remove(dim + 1);
    let slot = dims.get_mut(dim).ok_or(Reason::Arguments)?;
    *slot = Dim::product(&[*slot, repeats.into()]);
    Ok(vec![editor.view_as(repeated, &dims)?])
}

/// `repeat_interleave(self, repeats, dim, output_size)` with a number of repetitions for each element of the dimension.
pub fn interleave_by(editor: &mut Editor, call: &Call) -> Rewritten {
    let (mut input, mut repeats, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let whole = *call.argument(2)? == Argument::None;
    if whole {
        input = editor.flattened(input)?;
    }
    let dim = if whole { 0 } else { call.dim(2, output.rank())? };
    let size = editor.dims(input).get(dim).copied().ok_or(Reason::Arguments)?;
    repeats = editor.flattened(repeats)?;
    repeats = editor.expand_as(repeats, &[size])?;
    let count = Dim::of(&output).get(dim).copied().ok_or(Reason::Arguments)?;
    let spec = Dim::spec(editor.spec(repeats).scalar_type, &[count]);
    let index = editor.call("repeat_interleave.Tensor", vec![Argument::Value(repeats), Argument::None], spec)?;
    let arguments = vec![Argument::Value(input), Argument::Int(dim as i64), Argument::Value(index)];
    Ok(vec![editor.call("index_select.default", arguments, output)?])
}

/// `broadcast_tensors(tensors)`.
pub fn to_common_shape(editor: &mut Editor, call: &Call) -> Rewritten {
    let values = call.values(0)?;
    let mut dims = Vec::new();
    for value in &values {
        dims = Dim::broadcast(&dims, &editor.dims(*value))?;
    }
    values.into_iter().map(|value| editor.expand_as(value, &dims)).collect()
}

/// `broadcast_to(self, size)`.
pub fn to_shape(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    if !output.is_dynamic() {
        return Ok(vec![editor.expand_as(input, &Dim::of(&output))?]);
    }
    let arguments = vec![Argument::Value(input), call.argument(1)?.clone(), Argument::Bool(false)];
    Ok(vec![editor.call("expand.default", arguments, output)?])
}

/// `meshgrid(tensors, indexing)`: each tensor along a separate dimension; `xy` swaps the first two.
pub fn grid(editor: &mut Editor, call: &Call) -> Rewritten {
    let values = call.values(0)?;
    let swapped = matches!(call.arguments.get(1), Some(Argument::Text(text)) if text == "xy") && values.len() > 1;
    let place = |index: usize| if swapped && index < 2 { 1 - index } else { index };
    let mut dims = vec![Dim::from(1); values.len()];
    for (index, value) in values.iter().enumerate() {
        *dims.get_mut(place(index)).ok_or(Reason::Arguments)? = length(editor, *value);
    }
    let mut made = Vec::new();
    for (index, value) in values.into_iter().enumerate() {
        let mut line = vec![Dim::from(1); dims.len()];
        *line.get_mut(place(index)).ok_or(Reason::Arguments)? = length(editor, value);
        let line = editor.view_as(value, &line)?;
        made.push(editor.expand_as(line, &dims)?);
    }
    Ok(made)
}

/// The size of a vector; 1 for a tensor of rank 0.
fn length(editor: &Editor, of: ValueId) -> Dim {
    editor.dims(of).first().copied().unwrap_or(1.into())
}

/// `kron(self, other)`: each element of the first operand times the whole second operand.
pub fn kronecker(editor: &mut Editor, call: &Call) -> Rewritten {
    let (left, right) = (call.value(0)?, call.value(1)?);
    let (outer, inner) = (editor.dims(left), editor.dims(right));
    if outer.len() != inner.len() {
        return Err(Reason::Unsupported("operands of different ranks"));
    }
    let left = editor.view_as(left, &outer.iter().flat_map(|dim| [*dim, 1.into()]).collect::<Vec<_>>())?;
    let right = editor.view_as(right, &inner.iter().flat_map(|dim| [1.into(), *dim]).collect::<Vec<_>>())?;
    let product = editor.pair("mul", left, right)?;
    let dims: Vec<Dim> = editor.dims(product).chunks(2).map(Dim::product).collect();
    Ok(vec![editor.view_as(product, &dims)?])
}

/// `one_hot(self, classes)`: compares the class with the column.
pub fn one_hot(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let classes = Dim::of(&output).last().copied().ok_or(Reason::Arguments)?.fixed()?;
    let classes: Vec<i64> = (0..i64::from(classes)).collect();
    let classes = editor.integers(&classes)?;
    let mut dims = editor.dims(input);
    dims.push(1.into());
    let column = editor.view_as(input, &dims)?;
    let mask = TensorSpec { scalar_type: et_core::ScalarType::Bool, ..output.clone() };
    let mask = editor.call("eq.Tensor", [column, classes].map(Argument::Value).to_vec(), mask)?;
    Ok(vec![editor.convert(mask, output.scalar_type)?])
}

/// `outer(self, vec2)`.
pub fn outer(editor: &mut Editor, call: &Call) -> Rewritten {
    let (left, right) = (call.value(0)?, call.value(1)?);
    let [rows] = editor.dims(left)[..] else { return Err(Reason::Arguments) };
    let left = editor.view_as(left, &[rows, 1.into()])?;
    Ok(vec![editor.pair("mul", left, right)?])
}
