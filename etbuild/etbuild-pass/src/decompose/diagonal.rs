//! Diagonals and triangles, with constant masks.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten, normal_dim};

/// `triu(self, diagonal)`.
pub fn upper(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, diagonal, output) = (call.value(0)?, call.int(1)?, call.output()?);
    let [.., rows, columns] = editor.dims(input)[..] else { return Err(Reason::Arguments) };
    let at_most = offsets(rows.most, columns.most).map(|offset| offset >= diagonal);
    let whole = editor.mask(&[rows.most, columns.most], at_most)?;
    let mask = editor.corner(whole, [rows, columns])?;
    let zero = editor.number(Argument::Int(0), output.scalar_type)?;
    Ok(vec![editor.choose(mask, input, zero, output)?])
}

/// The distance of each position of a matrix to the right of the diagonal.
fn offsets(rows: i32, columns: i32) -> impl Iterator<Item = i64> {
    (0..rows).flat_map(move |row| (0..columns).map(move |column| i64::from(column) - i64::from(row)))
}

/// `diag_embed(self, offset, dim1, dim2)`.
pub fn embed(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let rank = output.rank();
    let (first, second) = (call.dim(2, rank)?, call.dim(3, rank)?);
    let matrix = matrix(editor, input, call.int(1)?)?;
    let mut rest = 0..rank.saturating_sub(2);
    let place = |dim: usize| match dim {
        dim if dim == first => Some(rank - 2),
        dim if dim == second => Some(rank - 1),
        _ => rest.next(),
    };
    let dims: Vec<usize> = (0..rank).map(place).collect::<Option<_>>().ok_or(Reason::Arguments)?;
    Ok(vec![editor.permute(matrix, &dims)?])
}

/// `diag(self, diagonal)`: the matrix of a vector, or the vector of a matrix.
pub fn diagonal(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, offset) = (call.value(0)?, call.int(1)?);
    if editor.spec(input).rank() == 1 {
        return Ok(vec![matrix(editor, input, offset)?]);
    }
    let arguments = vec![Argument::Value(input), Argument::Int(offset), Argument::Int(0), Argument::Int(1)];
    Ok(vec![editor.call("diagonal.default", arguments, call.output()?)?])
}

/// `diagflat(self, offset)`: the matrix of all elements.
pub fn of_all(editor: &mut Editor, call: &Call) -> Rewritten {
    let vector = editor.flattened(call.value(0)?)?;
    Ok(vec![matrix(editor, vector, call.int(1)?)?])
}

/// Square matrices with the vectors of `of` on a diagonal.
fn matrix(editor: &mut Editor, of: ValueId, offset: i64) -> Result<ValueId, Reason> {
    let spec = editor.spec(of).clone();
    if spec.is_dynamic() {
        return Err(Reason::Dynamic);
    }
    let (size, outer) = spec.sizes.split_last().ok_or(Reason::Arguments)?;
    let margin = i32::try_from(offset.abs()).map_err(|_| Reason::Arguments)?;
    let side = size.checked_add(margin).ok_or(Reason::Arguments)?;
    let sizes = |last: [i32; 2]| outer.iter().copied().chain(last).collect::<Vec<_>>();
    let padded = if margin == 0 {
        of
    } else {
        let pads = if offset > 0 { [i64::from(margin), 0] } else { [0, i64::from(margin)] };
        let wider = TensorSpec::contiguous(spec.scalar_type, outer.iter().copied().chain([side]).collect::<Vec<_>>());
        let arguments = vec![Argument::Value(of), Argument::Ints(pads.to_vec()), Argument::Int(0)];
        editor.call("constant_pad_nd.default", arguments, wider)?
    };
    let rows = editor.view(padded, &sizes([1, side]))?;
    let mask = editor.mask(&[side, side], offsets(side, side).map(|found| found == offset))?;
    let zero = editor.number(Argument::Int(0), spec.scalar_type)?;
    editor.choose(mask, rows, zero, TensorSpec::contiguous(spec.scalar_type, sizes([side, side])))
}

/// `eye(n)` and `eye(n, m)`.
pub fn identity(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    if output.is_dynamic() {
        return Err(Reason::Dynamic);
    }
    Ok(vec![ones(editor, output)?])
}

/// A matrix with ones on the main diagonal and zeros elsewhere.
pub fn ones(editor: &mut Editor, spec: TensorSpec) -> Result<ValueId, Reason> {
    let [rows, columns] = spec.sizes[..] else { return Err(Reason::Arguments) };
    let elements = offsets(rows, columns).map(|offset| if offset == 0 { 1.0 } else { 0.0 });
    editor.numbers(spec, elements)
}

/// `linspace(start, end, steps)`: counted from the nearer end by fused multiply-adds, like PyTorch. Ends of integer results are
/// truncated first, and steps between are `float64`.
pub fn line(editor: &mut Editor, call: &Call) -> Rewritten {
    let (start, end, output) = (call.number(0)?, call.number(1)?, call.output()?);
    if output.is_dynamic() {
        return Err(Reason::Dynamic);
    }
    let count = output.numel();
    let is_integer = output.scalar_type.is_integer();
    let [start, end] = if is_integer { [start.trunc(), end.trunc()] } else { [start, end] };
    let step = (end - start) / (count.max(2) - 1) as f64;
    let is_double = is_integer || output.scalar_type == ScalarType::Double;
    let [start, end, step] = [start, end, step].map(|number| if is_double { number } else { f64::from(number as f32) });
    let at = move |index: usize| {
        if index < count / 2 || count == 1 {
            step.mul_add(index as f64, start)
        } else {
            (-step).mul_add((count - index - 1) as f64, end)
        }
    };
    Ok(vec![editor.numbers(output, (0..count).map(at))?])
}

/// `linalg_cross(self, other, dim)`: vectors of three elements.
pub fn cross(editor: &mut Editor, call: &Call) -> Rewritten {
    let (left, right, output) = (call.value(0)?, call.value(1)?, call.output()?);
    let dim = match call.argument(2)? {
        // `cross` takes the first dimension of size 3, `linalg_cross` the last dimension.
        Argument::None => output.sizes.iter().position(|size| *size == 3).ok_or(Reason::Arguments)?,
        _ => normal_dim(call.int(2)?, output.rank())?,
    };
    let (next, before) = ([1, 2, 0], [2, 0, 1]);
    let first = [editor.select_many(left, dim, &next)?, editor.select_many(right, dim, &before)?];
    let second = [editor.select_many(left, dim, &before)?, editor.select_many(right, dim, &next)?];
    let first = editor.pair("mul", first[0], first[1])?;
    let second = editor.pair("mul", second[0], second[1])?;
    Ok(vec![editor.pair("sub", first, second)?])
}

/// `tril_indices(row, col, offset)` and `triu_indices(row, col, offset)`: the rows and the columns of a triangle.
pub fn triangle(editor: &mut Editor, call: &Call) -> Rewritten {
    let (rows, columns, offset, output) = (call.int(0)?, call.int(1)?, call.int(2)?, call.output()?);
    let is_lower = call.operator.name() == "tril_indices";
    let inside = move |row: i64, column: i64| {
        let distance = column - row;
        if is_lower { distance <= offset } else { distance >= offset }
    };
    if rows.checked_mul(columns).is_none_or(|count| count > i64::from(i32::MAX)) {
        return Err(Reason::Unsupported("indices of a triangle this large"));
    }
    let positions: Vec<(i64, i64)> = (0..rows)
        .flat_map(|row| (0..columns).map(move |column| (row, column)))
        .filter(|(row, column)| inside(*row, *column))
        .collect();
    if output.sizes.iter().map(|size| *size as usize).ne([2, positions.len()]) {
        return Err(Reason::Arguments);
    }
    let rows = positions.iter().map(|(row, _)| *row as f64);
    let columns = positions.iter().map(|(_, column)| *column as f64);
    Ok(vec![editor.numbers(output, rows.chain(columns))?])
}

/// `logspace(start, end, steps, base)`: powers of the elements of `linspace`, counted from the nearer end.
pub fn powers(editor: &mut Editor, call: &Call) -> Rewritten {
    let (start, end, base, output) = (call.number(0)?, call.number(1)?, call.number(3)?, call.output()?);
    if output.is_dynamic() {
        return Err(Reason::Dynamic);
    }
    let count = output.numel();
    let [start, end] = if output.scalar_type.is_integer() { [start.trunc(), end.trunc()] } else { [start, end] };
    let step = (end - start) / (count.max(2) - 1) as f64;
    let exponent = move |index: usize| {
        if index < count / 2 || count == 1 {
            start + step * index as f64
        } else {
            end - step * (count - index - 1) as f64
        }
    };
    Ok(vec![editor.numbers(output, (0..count).map(|index| base.powf(exponent(index))))?])
}
