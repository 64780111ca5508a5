//! Copies from one order of elements to another, and rows by their indices.
#![allow(unsafe_code, reason = "the elements that are written interleave with others of the same buffer")]

use et_core::{Error, Result};

use crate::memory::Plain;
use crate::run::Context;
use crate::split::{self, Elements, Task};
use crate::{Copy, Gather};

/// The least number of elements that are worth a task.
const LEAST: usize = 1 << 14;

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, fields: &Copy) -> Result<()> {
    match fields.width {
        1 => of_type::<u8>(context, fields),
        2 => of_type::<[u8; 2]>(context, fields),
        4 => of_type::<f32>(context, fields),
        8 => of_type::<i64>(context, fields),
        _ => Err(Error::InvalidProgram),
    }
}

// SAFETY: every pattern of bits is two bytes.
unsafe impl Plain for [u8; 2] {}

fn of_type<T: Plain + Send + Sync>(context: &Context<'_, '_, '_>, fields: &Copy) -> Result<()> {
    let rank = fields.rank as usize;
    let sizes = fields.sizes.get(..rank).ok_or(Error::InvalidProgram)?;
    let (from, to) = (&fields.input_strides[..rank], &fields.output_strides[..rank]);
    let mut operands = context.memory.operands();
    let input = operands.read::<T>(fields.input, span(sizes, from)?)?;
    let output = operands.write::<T>(fields.output, span(sizes, to)?)?;
    let count: usize = sizes.iter().map(|size| *size as usize).product();
    // The last dimension is neighbours in the output, the one before is what a task walks with it.
    let (columns, column_step) = last(sizes, from);
    let rows = count.checked_div(columns).unwrap_or(0);
    let (outer, elements) = (&sizes[..rank.saturating_sub(1)], Elements::new(&output));
    let step = to.last().map_or(1, |step| *step as usize);
    let parts = split::parts(context, rows, LEAST / columns.max(1) + 1);
    split::tasks(context, parts, |Task { index, .. }| {
        for row in split::part(rows, index, parts) {
            let (read, write) = offsets(outer, from, to, row);
            let input = &input[read..];
            // SAFETY: `span` held the farthest element against the buffer, and rows are apart.
            unsafe { row_of(input, column_step, elements.start().add(write), step, columns) };
        }
        Ok(())
    })
}

/// Size and input stride of the last dimension.
fn last(sizes: &[u32], strides: &[u32]) -> (usize, usize) {
    match (sizes.last(), strides.last()) {
        (Some(size), Some(stride)) => (*size as usize, *stride as usize),
        _ => (1, 1),
    }
}

/// Copies a row.
///
/// # Safety
/// `to` is valid for writes of `count` elements at distance `step`.
unsafe fn row_of<T: Plain>(input: &[T], stride: usize, to: *mut T, step: usize, count: usize) {
    if stride == 1 && step == 1 {
        // SAFETY: the caller says so.
        unsafe { core::ptr::copy_nonoverlapping(input[..count].as_ptr(), to, count) };
        return;
    }
    for (index, element) in input.iter().step_by(stride.max(1)).take(count).enumerate() {
        let element = if stride == 0 { &input[0] } else { element };
        // SAFETY: the caller says so.
        unsafe { to.add(index * step).write(*element) };
    }
    if stride == 0 {
        for index in 0..count {
            // SAFETY: the caller says so.
            unsafe { to.add(index * step).write(input[0]) };
        }
    }
}

/// Where a row begins in the input and in the output.
fn offsets(sizes: &[u32], from: &[u32], to: &[u32], mut row: usize) -> (usize, usize) {
    let (mut read, mut write) = (0, 0);
    for (dim, size) in sizes.iter().enumerate().rev() {
        let size = (*size as usize).max(1);
        read += row % size * from[dim] as usize;
        write += row % size * to[dim] as usize;
        row /= size;
    }
    (read, write)
}

/// The elements from the first to the last one.
fn span(sizes: &[u32], strides: &[u32]) -> Result<usize> {
    let mut last = 1_usize;
    for (size, stride) in sizes.iter().zip(strides) {
        let Some(steps) = (*size as usize).checked_sub(1) else { return Ok(0) };
        let distance = steps.checked_mul(*stride as usize).ok_or(Error::InvalidProgram)?;
        last = last.checked_add(distance).ok_or(Error::InvalidProgram)?;
    }
    Ok(last)
}

/// Rows of a table by their indices.
pub fn gather(context: &Context<'_, '_, '_>, fields: &Gather) -> Result<()> {
    let [limit, count, width] = [fields.limit, fields.count, fields.width].map(|number| number as usize);
    let mut operands = context.memory.operands();
    let table = operands.read::<u8>(fields.table, limit.checked_mul(width).ok_or(Error::InvalidProgram)?)?;
    let indices = operands.read::<i64>(fields.indices, count)?;
    let bytes = count.checked_mul(width).ok_or(Error::InvalidProgram)?;
    let output = operands.write::<u8>(fields.output, bytes)?.slice();
    for (row, index) in output.chunks_exact_mut(width.max(1)).zip(indices) {
        let index = usize::try_from(*index).map_err(|_| Error::InvalidArgument)?;
        let start = index.checked_mul(width).ok_or(Error::InvalidArgument)?;
        row.copy_from_slice(table.get(start..start + width).ok_or(Error::InvalidArgument)?);
    }
    Ok(())
}
