//! Repetition and broadcasting.

use etbuild_ir::{Argument, TensorSpec};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten, broadcast, wide};

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
            let count = i32::try_from(editor.spec(input).numel()).map_err(|_| Reason::Arguments)?;
            input = editor.view(input, &[count])?;
            0
        }
        _ => call.dim(2, output.rank())?,
    };
    let mut sizes = editor.sizes(input);
    sizes.insert(dim + 1, 1);
    let apart = editor.view(input, &sizes)?;
    *sizes.get_mut(dim + 1).ok_or(Reason::Arguments)? = repeats;
    let repeated = editor.expand(apart, &sizes)?;
    Ok(vec![editor.view(repeated, &output.sizes)?])
}

/// `broadcast_tensors(tensors)`.
pub fn to_common_shape(editor: &mut Editor, call: &Call) -> Rewritten {
    let values = call.values(0)?;
    let mut sizes = Vec::new();
    for value in &values {
        sizes = broadcast(&sizes, &editor.sizes(*value))?;
    }
    values.into_iter().map(|value| editor.expand(value, &sizes)).collect()
}

/// `broadcast_to(self, size)`.
pub fn to_shape(editor: &mut Editor, call: &Call) -> Rewritten {
    Ok(vec![editor.expand(call.value(0)?, &call.output()?.sizes)?])
}

/// `meshgrid(tensors, indexing)`: each tensor along a separate dimension; `xy` swaps the first two.
pub fn grid(editor: &mut Editor, call: &Call) -> Rewritten {
    let values = call.values(0)?;
    let swapped = matches!(call.arguments.get(1), Some(Argument::Text(text)) if text == "xy") && values.len() > 1;
    let mut made = Vec::new();
    for (index, (value, output)) in values.into_iter().zip(&call.outputs).enumerate() {
        let dim = if swapped && index < 2 { 1 - index } else { index };
        let mut sizes = vec![1; output.rank()];
        *sizes.get_mut(dim).ok_or(Reason::Arguments)? = *output.sizes.get(dim).ok_or(Reason::Arguments)?;
        let line = editor.view(value, &sizes)?;
        made.push(editor.expand(line, &output.sizes)?);
    }
    Ok(made)
}

/// `kron(self, other)`: each element of the first operand times the whole second operand.
pub fn kronecker(editor: &mut Editor, call: &Call) -> Rewritten {
    let (left, right, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let (outer, inner) = (editor.sizes(left), editor.sizes(right));
    if outer.len() != inner.len() {
        return Err(Reason::Unsupported("operands of different ranks"));
    }
    let left = editor.view(left, &outer.iter().flat_map(|size| [*size, 1]).collect::<Vec<_>>())?;
    let right = editor.view(right, &inner.iter().flat_map(|size| [1, *size]).collect::<Vec<_>>())?;
    let product = editor.pair("mul", left, right)?;
    Ok(vec![editor.view(product, &output.sizes)?])
}

/// `one_hot(self, classes)`: compares the class with the column.
pub fn one_hot(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let classes: Vec<i64> = (0..output.sizes.last().copied().map_or(0, i64::from)).collect();
    let classes = editor.integers(&classes)?;
    let mut sizes = editor.sizes(input);
    sizes.push(1);
    let column = editor.view(input, &sizes)?;
    let mask = TensorSpec::contiguous(et_core::ScalarType::Bool, output.sizes.clone());
    let mask = editor.call("eq.Tensor", [column, classes].map(Argument::Value).to_vec(), mask)?;
    Ok(vec![editor.convert(mask, output.scalar_type)?])
}

/// `outer(self, vec2)`.
pub fn outer(editor: &mut Editor, call: &Call) -> Rewritten {
    let (left, right) = (call.value(0)?, call.value(1)?);
    let [rows] = editor.sizes(left)[..] else { return Err(Reason::Arguments) };
    let left = editor.view(left, &[rows, 1])?;
    Ok(vec![editor.pair("mul", left, right)?])
}

/// `new_empty`, `empty` and `empty_like`: zeros, since the elements are unspecified.
pub fn anything(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let kind = [Argument::Type(output.scalar_type), Argument::Place, Argument::Place, Argument::Bool(false)];
    let arguments = [wide(&output.sizes), Argument::Int(0)].into_iter().chain(kind).collect();
    Ok(vec![editor.call("full.default", arguments, output)?])
}
