//! Fractional pooling (Graham 2014): the greatest element of windows at pseudorandom places.

use et_core::ScalarType;
use etbuild_ir::{Argument, TensorSpec, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `fractional_max_pool2d(self, kernel_size, output_size, random_samples)` and `fractional_max_pool3d`: the maxima, and their positions
/// in row-major order.
pub fn maxima(editor: &mut Editor, call: &Call) -> Rewritten {
    let (mut values, outputs) = (call.value(0)?, call.outputs.clone());
    let sizes = editor.static_sizes(values)?;
    let spatial = if call.operator.name() == "fractional_max_pool2d" { 2 } else { 3 };
    let first = sizes.len().checked_sub(spatial).ok_or(Reason::Arguments)?;
    let kernel: Vec<i32> = call.ints(1)?.iter().map(|size| *size as i32).collect();
    let counts: Vec<i32> = call.ints(2)?.iter().map(|size| *size as i32).collect();
    if kernel.len() != spatial || counts.len() != spatial {
        return Err(Reason::Arguments);
    }
    let (outer, inner) = sizes.split_at(first);
    let places = inner.iter().product();
    let mut positions = editor.counting(places, 0, 1)?;
    positions = editor.view(positions, &[vec![1; first], inner.to_vec()].concat())?;
    positions = editor.expand(positions, &sizes)?;
    for dim in 0..spatial {
        let starts = starts(editor, call, (dim, spatial), outer)?;
        let index = window(editor, starts, *kernel.get(dim).ok_or(Reason::Arguments)?)?;
        (values, positions) =
            (picked(editor, values, first + dim, index)?, picked(editor, positions, first + dim, index)?);
    }
    values = windows(editor, values, first, &kernel, &counts)?;
    positions = windows(editor, positions, first, &kernel, &counts)?;
    let mut found = outputs.clone();
    found.iter_mut().for_each(|output| *output = TensorSpec::contiguous(output.scalar_type, output.sizes.clone()));
    let arguments = vec![Argument::Value(values), Argument::Int(sizes.len() as i64), Argument::Bool(false)];
    let made = editor.call_many("max.dim", arguments, found)?;
    let [greatest, index] = made[..] else { return Err(Reason::Arguments) };
    let index = editor.unsqueezed(index, sizes.len())?;
    let positions = editor.gather(positions, sizes.len(), index)?;
    Ok(vec![greatest, editor.squeezed(positions, sizes.len())?])
}

/// The first place of each window along a dimension: `[.., windows]`. In two dimensions the samples are of columns, then of rows.
fn starts(editor: &mut Editor, call: &Call, (dim, spatial): (usize, usize), outer: &[i32]) -> Result<ValueId, Reason> {
    let input = editor.static_sizes(call.value(0)?)?;
    let size = *input.get(outer.len() + dim).ok_or(Reason::Arguments)?;
    let (kernel, count) = (call.ints(1)?[dim] as i32, call.ints(2)?[dim] as i32);
    let end = editor.full(
        Argument::Int(i64::from(size - kernel)),
        TensorSpec::contiguous(ScalarType::Long, [outer, &[1]].concat()),
    )?;
    if count < 2 {
        return Ok(end);
    }
    let samples = editor.view(call.value(3)?, &[outer, &[spatial as i32]].concat())?;
    let own = if spatial == 2 { 1 - dim } else { dim } as i64;
    let sample = editor.slice(samples, outer.len(), own, own + 1)?;
    let alpha = f64::from(size - kernel) / f64::from(count - 1);
    let counted = editor.counting(count - 1, outer.len(), outer.len() + 1)?;
    let counted = editor.convert(counted, editor.spec(samples).scalar_type)?;
    let moved = editor.pair("add", counted, sample)?;
    let (moved, sample) = (editor.times(moved, alpha)?, editor.times(sample, alpha)?);
    let (moved, sample) = (editor.convert(moved, ScalarType::Long)?, editor.convert(sample, ScalarType::Long)?);
    let starts = editor.pair("sub", moved, sample)?;
    editor.cat(vec![starts, end], outer.len(), TensorSpec::contiguous(ScalarType::Long, [outer, &[count]].concat()))
}

/// The places of all elements of the windows, a window after the other.
fn window(editor: &mut Editor, starts: ValueId, kernel: i32) -> Result<ValueId, Reason> {
    let mut sizes = editor.sizes(starts);
    let column = editor.unsqueezed(starts, sizes.len())?;
    let offsets = editor.counting(kernel, sizes.len(), sizes.len() + 1)?;
    let all = editor.pair("add", column, offsets)?;
    let last = sizes.last_mut().ok_or(Reason::Arguments)?;
    *last *= kernel;
    editor.view(all, &sizes)
}

/// The elements at places along a dimension.
fn picked(editor: &mut Editor, of: ValueId, dim: usize, index: ValueId) -> Result<ValueId, Reason> {
    let mut sizes = editor.sizes(of);
    let outer = editor.spec(index).rank() - 1;
    let count = *editor.sizes(index).last().ok_or(Reason::Arguments)?;
    let shape = (0..sizes.len()).map(|at| match at {
        at if at < outer => sizes[at],
        at if at == dim => count,
        _ => 1,
    });
    let index = editor.view(index, &shape.collect::<Vec<_>>())?;
    sizes[dim] = count;
    let index = editor.expand(index, &sizes)?;
    editor.gather(of, dim, index)
}

/// The elements of each window along a last dimension.
fn windows(editor: &mut Editor, of: ValueId, first: usize, kernel: &[i32], counts: &[i32]) -> Result<ValueId, Reason> {
    let outer = editor.sizes(of)[..first].to_vec();
    let apart: Vec<i32> = counts.iter().zip(kernel).flat_map(|(count, size)| [*count, *size]).collect();
    let split = editor.view(of, &[outer.clone(), apart].concat())?;
    let dims = (0..first).chain((0..kernel.len()).map(|dim| first + 2 * dim));
    let dims: Vec<usize> = dims.chain((0..kernel.len()).map(|dim| first + 2 * dim + 1)).collect();
    let sorted = editor.permute(split, &dims)?;
    editor.view(sorted, &[outer, counts.to_vec(), vec![kernel.iter().product()]].concat())
}
