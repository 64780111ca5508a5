//! Integrals and derivatives of sampled functions.

use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

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

/// `gradient(self, spacing, dim, edge_order)` with a number as spacing of all dimensions: central differences within, differences of
/// order 1 or 2 at the ends.
pub fn gradient(editor: &mut Editor, call: &Call) -> Rewritten {
    let scalar_type = call.output()?.scalar_type;
    let input = editor.convert(call.value(0)?, scalar_type)?;
    let rank = editor.spec(input).rank();
    let overload = call.operator.overload();
    let spacing = if *call.argument(1)? == Argument::None { 1.0 } else { call.number(1)? };
    let dims = call.dims(2, rank)?;
    if !matches!(overload, "scalarint" | "scalararray") || dims.len() != call.outputs.len() {
        return Err(Reason::Unsupported("`gradient` with positions"));
    }
    let order = call.int(3)?;
    dims.into_iter().map(|dim| slope(editor, input, dim, spacing, order)).collect()
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

/// `linspace(start, end, steps)` with tensors as ends.
pub fn line(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let count = if output.is_dynamic() { return Err(Reason::Dynamic) } else { output.numel() };
    let mut ends = Vec::new();
    for index in 0..2 {
        let end = editor.operand(call.argument(index)?, output.scalar_type)?;
        ends.push(editor.convert(end, output.scalar_type)?);
    }
    if !output.scalar_type.is_float() {
        return Err(Reason::Unsupported("`linspace` of integers between tensors"));
    }
    let [start, end] = ends[..] else { return Err(Reason::Arguments) };
    let difference = editor.pair("sub", end, start)?;
    let step = editor.times(difference, 1.0 / (count.max(2) - 1) as f64)?;
    let spec = TensorSpec::contiguous(output.scalar_type, output.sizes.clone());
    let half = count / 2;
    let is_first = |index: usize| index < half || count == 1;
    let weights = (0..count).map(|index| if is_first(index) { index as f64 } else { -((count - 1 - index) as f64) });
    let weights = editor.numbers(spec, weights)?;
    let mask = editor.mask(&output.sizes, (0..count).map(is_first))?;
    let dims = Dim::of(&output);
    let (start, end) = (editor.expand_as(start, &dims)?, editor.expand_as(end, &dims)?);
    let from = editor.choose(mask, start, end, output)?;
    let part = editor.pair("mul", weights, step)?;
    Ok(vec![editor.pair("add", from, part)?])
}
