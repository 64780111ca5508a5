//! Indexing with tensors: `index_put`, `index_select`, `gather` and `topk`.

use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// `index_add(self, dim, index, source, alpha)`.
pub fn add(editor: &mut Editor, call: &Call) -> Rewritten {
    let source = match call.argument(4)? {
        Argument::Int(1) => call.value(3)?,
        alpha => editor.map("mul.Scalar", call.value(3)?, vec![alpha.clone()])?,
    };
    put(editor, call, source, true)
}

/// `index_copy(self, dim, index, source)`.
pub fn copy(editor: &mut Editor, call: &Call) -> Rewritten {
    put(editor, call, call.value(3)?, false)
}

/// `index_fill(self, dim, index, value)` with a number or a tensor of rank 0.
pub fn fill(editor: &mut Editor, call: &Call) -> Rewritten {
    let value = editor.operand(call.argument(3)?, call.output()?.scalar_type)?;
    put(editor, call, value, false)
}

fn put(editor: &mut Editor, call: &Call, values: ValueId, accumulate: bool) -> Rewritten {
    let input = call.value(0)?;
    let index = editor.flattened(call.value(2)?)?;
    if editor.spec(input).rank() == 0 {
        let (vector, values) = (editor.flattened(input)?, editor.flattened(values)?);
        let indices = Argument::Values(vec![Some(index)]);
        let rest = vec![indices, Argument::Value(values), Argument::Bool(accumulate)];
        let written = editor.map("index_put.default", vector, rest)?;
        return Ok(vec![editor.view(written, &[])?]);
    }
    let dim = call.dim(1, editor.spec(input).rank())?;
    let values = if dim > 0 && editor.spec(values).rank() > 0 { in_front(editor, values, dim)? } else { values };
    if dim == 0 {
        let indices = Argument::Values(vec![Some(index)]);
        let rest = vec![indices, Argument::Value(values), Argument::Bool(accumulate)];
        return Ok(vec![editor.map("index_put.default", input, rest)?]);
    }
    let moved = in_front(editor, input, dim)?;
    let indices = Argument::Values(vec![Some(index)]);
    let rest = vec![indices, Argument::Value(values), Argument::Bool(accumulate)];
    let written = editor.map("index_put.default", moved, rest)?;
    let rank = editor.spec(input).rank();
    let back: Vec<usize> = (1..=dim).chain([0]).chain(dim + 1..rank).collect();
    Ok(vec![editor.permute(written, &back)?])
}

fn in_front(editor: &mut Editor, of: ValueId, dim: usize) -> Result<ValueId, Reason> {
    let rank = editor.spec(of).rank();
    let dims: Vec<usize> = std::iter::once(dim).chain((0..rank).filter(|other| *other != dim)).collect();
    editor.permute(of, &dims)
}

/// `take(self, index)`: positions in row-major order.
pub fn take(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, index, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let flat = flat(editor, input)?;
    let positions = self::flat(editor, index)?;
    let positions = from_the_start(editor, positions, flat)?;
    let made = Dim::spec(output.scalar_type, &editor.dims(positions));
    let arguments = vec![Argument::Value(flat), Argument::Int(0), Argument::Value(positions)];
    let taken = editor.call("index_select.default", arguments, made)?;
    let dims = editor.dims(index);
    Ok(vec![editor.view_as(taken, &dims)?])
}

fn flat(editor: &mut Editor, of: ValueId) -> Result<ValueId, Reason> {
    let count = Dim::product(&editor.dims(of));
    editor.view_as(of, &[count])
}

/// `take_along_dim(self, indices, dim)`: `gather` of operands that are broadcast outside of the dimension.
pub fn take_along(editor: &mut Editor, call: &Call) -> Rewritten {
    let (mut input, mut index, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let mut dim = 0;
    if *call.argument(2)? == Argument::None {
        (input, index) = (flat(editor, input)?, flat(editor, index)?);
    } else {
        dim = call.dim(2, editor.spec(input).rank())?;
        let (mut whole, mut wanted) = (editor.dims(input), editor.dims(index));
        let (size, count) = (whole.get(dim).copied(), wanted.get(dim).copied());
        let set = |dims: &mut Vec<Dim>, size: Dim| dims.get_mut(dim).map(|slot| *slot = size).ok_or(Reason::Arguments);
        set(&mut whole, 1.into())?;
        set(&mut wanted, 1.into())?;
        let mut common = Dim::broadcast(&whole, &wanted)?;
        set(&mut common, size.ok_or(Reason::Arguments)?)?;
        input = editor.expand_as(input, &common)?;
        set(&mut common, count.ok_or(Reason::Arguments)?)?;
        index = editor.expand_as(index, &common)?;
    }
    let dims = editor.dims(index);
    let made = Dim::spec(output.scalar_type, &dims);
    let arguments = [Argument::Value(input), Argument::Int(dim as i64), Argument::Value(index), Argument::Bool(false)];
    let taken = editor.call("gather.default", arguments.to_vec(), made)?;
    Ok(vec![editor.view_as(taken, &dims)?])
}

/// `sort(self, dim, descending)` and `sort.stable(self, stable, dim, descending)`: `topk` of all elements.
pub fn sort(editor: &mut Editor, call: &Call) -> Rewritten {
    sorted(editor, call, &call.outputs)
}

/// `argsort(self, dim, descending)` and `argsort.stable(self, stable, dim, descending)`: the indices of the sorted elements.
pub fn argsort(editor: &mut Editor, call: &Call) -> Rewritten {
    let places = call.output()?;
    let values = TensorSpec { scalar_type: editor.spec(call.value(0)?).scalar_type, ..places.clone() };
    let name = format!("sort.{}", call.operator.overload());
    Ok(editor.call_many(&name, call.arguments.clone(), vec![values, places])?.into_iter().skip(1).collect())
}

fn sorted(editor: &mut Editor, call: &Call, outputs: &[TensorSpec]) -> Rewritten {
    let input = call.value(0)?;
    let first = usize::from(call.operator.overload() == "stable") + 1;
    let dims = editor.dims(input);
    let dim = call.dim(first, dims.len())?;
    let count = editor.size_argument(*dims.get(dim).ok_or(Reason::Arguments)?)?;
    let flags = [call.argument(first + 1)?.clone(), Argument::Bool(true)];
    let arguments = [Argument::Value(input), count, Argument::Int(dim as i64)].into_iter().chain(flags);
    editor.call_many("topk.default", arguments.collect(), outputs.to_vec())
}

/// `searchsorted(sorted_sequence, self, out_int32, right, side, sorter)` in a single sequence: `bucketize`.
pub fn search(editor: &mut Editor, call: &Call) -> Rewritten {
    let (sequence, input) = (call.value(0)?, call.argument(1)?.clone());
    if editor.spec(sequence).rank() != 1 || *call.argument(5)? != Argument::None {
        return Err(Reason::Unsupported("`searchsorted` with several sequences or a sorter"));
    }
    let right = match call.argument(4)? {
        Argument::Text(side) => Argument::Bool(side == "right"),
        _ => call.argument(3)?.clone(),
    };
    let arguments = vec![input, Argument::Value(sequence), call.argument(2)?.clone(), right];
    Ok(vec![editor.call("bucketize.Tensor", arguments, call.output()?)?])
}

/// `isin(elements, test_elements, assume_unique, invert)`: whether any of the test elements equals.
pub fn is_in(editor: &mut Editor, call: &Call) -> Rewritten {
    let (elements, tests, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let column = [editor.sizes(elements), vec![1]].concat();
    let count = i32::try_from(editor.spec(tests).numel()).map_err(|_| Reason::Arguments)?;
    let (column, row) = (editor.view(elements, &column)?, editor.view(tests, &[count])?);
    let equal = editor.compare("eq.Tensor", column, Argument::Value(row))?;
    let last = Argument::Int(output.rank() as i64);
    let found = editor.call("any.dim", vec![Argument::Value(equal), last, Argument::Bool(false)], output)?;
    Ok(vec![if call.flag(3)? { editor.test("logical_not", found)? } else { found }])
}

/// Positions in a vector, counted from the start where negative ones count from the end.
fn from_the_start(editor: &mut Editor, positions: ValueId, vector: ValueId) -> Result<ValueId, Reason> {
    let count = *editor.dims(vector).first().ok_or(Reason::Arguments)?;
    let count = editor.size_argument(count)?;
    let below = editor.compare("lt.Scalar", positions, Argument::Int(0))?;
    let spec = editor.spec(positions).clone();
    let moved = editor.map("add.Scalar", positions, vec![count, Argument::Int(1)])?;
    editor.choose(below, moved, positions, spec)
}

/// `msort(self)`: sorted along the first dimension.
pub fn sort_first(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let mut positions = output.clone();
    positions.scalar_type = et_core::ScalarType::Long;
    let arguments = vec![call.argument(0)?.clone(), Argument::Int(0), Argument::Bool(false)];
    Ok(editor.call_many("sort.default", arguments, vec![output, positions])?.into_iter().take(1).collect())
}
