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
    let positions = from_the_start(editor, positions, (flat, 0))?;
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
    index = from_the_start(editor, index, (input, dim))?;
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

/// `gather(self, dim, index)`: a number is a vector of a single element.
pub fn gather(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, index, output) = (call.value(0)?, call.value(2)?, call.output()?);
    if editor.spec(input).rank() == editor.spec(index).rank() {
        return Ok(editor.keep(call.clone()));
    }
    let (input, index) = (editor.flattened(input)?, editor.flattened(index)?);
    let picked = editor.gather(input, 0, index)?;
    Ok(vec![editor.view_like(picked, &output)?])
}

/// `nonzero_numpy(self)`: a column of `nonzero` for each dimension.
pub fn nonzero_columns(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let input = if editor.spec(input).rank() == 0 { editor.flattened(input)? } else { input };
    let first = Dim::of(&call.output()?).first().copied().ok_or(Reason::Arguments)?;
    let columns = i32::try_from(call.outputs.len()).map_err(|_| Reason::Arguments)?;
    let spec = Dim::spec(et_core::ScalarType::Long, &[first, columns.into()]);
    let rows = editor.call("nonzero.default", vec![Argument::Value(input)], spec)?;
    let column = |(index, output): (usize, &TensorSpec)| {
        let arguments = vec![Argument::Value(rows), Argument::Int(1), Argument::Int(index as i64)];
        editor.call("select.int", arguments, output.clone())
    };
    call.outputs.iter().enumerate().map(column).collect()
}

/// `embedding_renorm(self, indices, max_norm, norm_type)`: the rows with an index, scaled where their norm is larger.
pub fn renorm_rows(editor: &mut Editor, call: &Call) -> Rewritten {
    let (weight, index) = (call.value(0)?, call.value(1)?);
    let rest = [call.argument(3)?.clone(), Argument::Int(0), call.argument(2)?.clone()];
    let scaled = editor.map("renorm.default", weight, rest.to_vec())?;
    let [rows, _] = editor.dims(weight)[..] else { return Err(Reason::Arguments) };
    let none = editor.full(Argument::Bool(false), Dim::spec(et_core::ScalarType::Bool, &[rows, 1.into()]))?;
    let yes = editor.number(Argument::Bool(true), et_core::ScalarType::Bool)?;
    let index = Argument::Values(vec![Some(editor.flattened(index)?)]);
    let chosen = editor.map("index_put.default", none, vec![index, Argument::Value(yes), Argument::Bool(false)])?;
    Ok(vec![editor.choose(chosen, scaled, weight, call.output()?)?])
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

/// Positions along a dimension, counted from the start where negative ones count from the end.
fn from_the_start(editor: &mut Editor, positions: ValueId, (of, dim): (ValueId, usize)) -> Result<ValueId, Reason> {
    let count = *editor.dims(of).get(dim).ok_or(Reason::Arguments)?;
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
