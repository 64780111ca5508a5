//! Combinations of the elements of vectors, and matrices along a diagonal.

use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `cartesian_prod(tensors)`: a row for each combination of an element of each vector, the last vector fastest.
pub fn cartesian_product(editor: &mut Editor, call: &Call) -> Rewritten {
    let vectors = call.values(0)?;
    if let [only] = vectors[..] {
        return Ok(vec![only]);
    }
    let numel = |vector: &ValueId| editor.static_sizes(*vector).map(|_| editor.spec(*vector).numel());
    let sizes = vectors.iter().map(numel).collect::<Result<Vec<usize>, _>>()?;
    let rows = sizes.iter().product();
    let column = |(column, vector): (usize, &ValueId)| {
        // Rows with the same element of this vector.
        let run: usize = sizes[column + 1..].iter().product();
        (*vector, (0..rows).map(|row: usize| (row / run % sizes[column]) as i64).collect())
    };
    columns_of(editor, call, vectors.iter().enumerate().map(column).collect())
}

/// `combinations(self, r, with_replacement)`: a row for each combination of `r` elements, in the order of positions.
pub fn combinations(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let [_, width] = output.sizes[..] else { return Err(Reason::Arguments) };
    let width = usize::try_from(width).map_err(|_| Reason::Arguments)?;
    editor.static_sizes(input)?;
    let (mut found, count) = (Vec::new(), editor.spec(input).numel() as i64);
    extend(&mut found, &mut Vec::new(), (0, count), (width, call.flag(2)?));
    let columns = (0..width).map(|column| (input, found.iter().map(|row: &Vec<i64>| row[column]).collect()));
    columns_of(editor, call, columns.collect())
}

/// Appends every combination that begins with `start`.
fn extend(
    found: &mut Vec<Vec<i64>>,
    start: &mut Vec<i64>,
    (first, count): (i64, i64),
    (width, repeats): (usize, bool),
) {
    if start.len() == width {
        found.push(start.clone());
        return;
    }
    for next in first..count {
        start.push(next);
        extend(found, start, (if repeats { next } else { next + 1 }, count), (width, repeats));
        start.pop();
    }
}

/// The matrix whose columns are these positions of vectors.
fn columns_of(editor: &mut Editor, call: &Call, columns: Vec<(ValueId, Vec<i64>)>) -> Rewritten {
    let columns = columns.into_iter().map(|(vector, positions)| editor.select_many(vector, 0, &positions));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let arguments = vec![Argument::values(columns), Argument::Int(1)];
    Ok(vec![editor.call("stack.default", arguments, call.output()?)?])
}

/// `block_diag(tensors)`: matrices along the diagonal, zeros elsewhere.
pub fn block_diagonal(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let [_, width] = output.sizes[..] else { return Err(Reason::Arguments) };
    let (mut bands, mut before) = (Vec::new(), 0);
    for block in call.values(0)? {
        let block = editor.convert(block, output.scalar_type)?;
        let sizes = match editor.sizes(block)[..] {
            [] => [1, 1],
            [columns] => [1, columns],
            [rows, columns] => [rows, columns],
            _ => return Err(Reason::Arguments),
        };
        let block = editor.view(block, &sizes)?;
        let sides = [before, width - before - sizes[1]];
        let spec = |columns| TensorSpec::contiguous(output.scalar_type, [sizes[0], columns]);
        let left = editor.full(Argument::Int(0), spec(sides[0]))?;
        let right = editor.full(Argument::Int(0), spec(sides[1]))?;
        bands.push(editor.cat(vec![left, block, right], 1, spec(width))?);
        before += sizes[1];
    }
    Ok(vec![editor.cat(bands, 0, output)?])
}
