//! Integrals and derivatives of sampled functions.

use etbuild_ir::{Argument, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

type Made = Result<ValueId, Reason>;

/// `trapezoid(y, x, dim)`, `trapezoid(y, dx, dim)` and `trapz`.
pub fn trapezoid(editor: &mut Editor, call: &Call) -> Rewritten {
    let (areas, dim) = areas(editor, call)?;
    let sum = editor.sum(areas, &[dim], false)?;
    Ok(vec![editor.times(sum, 0.5)?])
}

/// `cumulative_trapezoid(y, x, dim)` and with a number for all steps.
pub fn running_trapezoid(editor: &mut Editor, call: &Call) -> Rewritten {
    let (areas, dim) = areas(editor, call)?;
    let sum = editor.map("cumsum.default", areas, vec![Argument::Int(dim as i64), Argument::None])?;
    Ok(vec![editor.times(sum, 0.5)?])
}

/// Twice the area between neighbouring samples, in the type of the output.
fn areas(editor: &mut Editor, call: &Call) -> Result<(ValueId, usize), Reason> {
    let output = call.output()?;
    let samples = editor.convert(call.value(0)?, output.scalar_type)?;
    let rank = editor.spec(samples).rank();
    let dim = call.dim(2, rank)?;
    let [before, behind] = ends(editor, samples, dim)?;
    let sums = editor.pair("add", before, behind)?;
    let Argument::Value(positions) = call.argument(1)? else {
        return Ok((editor.times(sums, call.number(1)?)?, dim));
    };
    let mut positions = editor.convert(*positions, output.scalar_type)?;
    let (own, mut along) = (editor.spec(positions).rank(), dim);
    if own == 1 {
        positions = editor.along(positions, dim, rank)?;
    } else {
        along = (dim + own).checked_sub(rank).ok_or(Reason::Arguments)?;
    }
    let [before, behind] = ends(editor, positions, along)?;
    let steps = editor.pair("sub", behind, before)?;
    Ok((editor.pair("mul", sums, steps)?, dim))
}

/// All positions but the last, and all but the first.
fn ends(editor: &mut Editor, of: ValueId, dim: usize) -> Result<[ValueId; 2], Reason> {
    let size = i64::from(*editor.static_sizes(of)?.get(dim).ok_or(Reason::Arguments)?);
    Ok([editor.slice(of, dim, 0, size - 1)?, editor.slice(of, dim, 1, size)?])
}

/// `gradient(self, spacing, dim, edge_order)` with a number as spacing of all dimensions, or a number for each: central differences
/// within, differences of order 1 or 2 at the ends.
pub fn gradient(editor: &mut Editor, call: &Call) -> Rewritten {
    let scalar_type = call.output()?.scalar_type;
    let input = editor.convert(call.value(0)?, scalar_type)?;
    let rank = editor.spec(input).rank();
    let first = if call.operator.overload() == "array" { 1 } else { 2 };
    let dims = call.dims(first, rank)?;
    let spacing = match call.argument(1)? {
        _ if first == 1 => vec![1.0],
        Argument::None => vec![1.0],
        Argument::Floats(numbers) => numbers.clone(),
        Argument::Ints(numbers) => numbers.iter().map(|number| *number as f64).collect(),
        Argument::Values(_) => return Err(Reason::Unsupported("`gradient` with positions")),
        _ => vec![call.number(1)?],
    };
    let order = call.int(first + 1)?;
    if dims.len() != call.outputs.len() || (spacing.len() != 1 && spacing.len() != dims.len()) {
        return Err(Reason::Arguments);
    }
    let of = |(dim, spacing): (usize, f64)| slope(editor, input, dim, spacing, order);
    dims.into_iter().zip(spacing.into_iter().cycle()).map(of).collect()
}

fn slope(editor: &mut Editor, of: ValueId, dim: usize, spacing: f64, order: i64) -> Made {
    let size = *editor.static_sizes(of)?.get(dim).ok_or(Reason::Arguments)?;
    let last = i64::from(size) - 1;
    let end = |editor: &mut Editor, places: [i64; 3], weights: [f64; 3]| {
        let mut sum = None;
        for (place, weight) in places.into_iter().zip(weights).filter(|(_, weight)| *weight != 0.0) {
            let part = editor.slice(of, dim, place, place + 1)?;
            let part = editor.times(part, weight / spacing)?;
            sum = Some(match sum {
                None => part,
                Some(sum) => editor.pair("add", sum, part)?,
            });
        }
        sum.ok_or(Reason::Arguments)
    };
    let weights = if order == 1 { [-1.0, 1.0, 0.0] } else { [-1.5, 2.0, -0.5] };
    let first = end(editor, [0, 1, 2], weights)?;
    let final_part = end(editor, [last, last - 1, last - 2], weights.map(|weight| -weight))?;
    let mut parts = vec![first];
    if size > 2 {
        let (before, behind) = (editor.slice(of, dim, 0, last - 1)?, editor.slice(of, dim, 2, last + 1)?);
        let difference = editor.pair("sub", behind, before)?;
        parts.push(editor.times(difference, 0.5 / spacing)?);
    }
    parts.push(final_part);
    let output = editor.spec(of).clone();
    editor.cat(parts, dim, output)
}
