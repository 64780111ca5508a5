//! Strided tensor copies and embedding lookup.
#![allow(unsafe_code, reason = "the elements that are written interleave with others of the same buffer")]

use et_core::{Error, Result};
use et_kernels::copy::{Strided, copy_part};

use crate::memory::Plain;
use crate::run::Context;
use crate::split::{self, Chunks, Elements};
use crate::{Copy, Gather};

/// The minimum elements of a task.
const LEAST: usize = 1 << 14;

/// The maximum number of dimensions.
const MOST: usize = 8;

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

// SAFETY: every bit pattern is a valid pair of bytes.
unsafe impl Plain for [u8; 2] {}

fn of_type<T: Plain + Send + Sync>(context: &Context<'_, '_, '_>, fields: &Copy) -> Result<()> {
    let rank = fields.rank as usize;
    if rank > fields.sizes.len() {
        return Err(Error::InvalidProgram);
    }
    // At least one dimension remains to partition: unused entries have size 1.
    let dims: [(usize, usize, usize); MOST] = core::array::from_fn(|dim| match dim < rank {
        true => (fields.sizes[dim] as usize, fields.input_strides[dim] as usize, fields.output_strides[dim] as usize),
        false => (1, 1, 1),
    });
    let (sizes, from, to) = (dims.map(|dim| dim.0), dims.map(|dim| dim.1), dims.map(|dim| dim.2));
    if !split::are_apart(dims.map(|(size, _, stride)| (size, stride))) {
        return Err(Error::InvalidProgram);
    }
    let mut operands = context.memory.operands();
    let input = operands.read::<T>(fields.input, span(sizes, from)?)?;
    let length = span(sizes, to)?;
    let output = operands.write::<T>(*fields.output, length)?;
    let count = sizes.iter().fold(1_usize, |count, size| count.saturating_mul(*size));
    let (rank, level, elements) = (rank.max(1), context.level, Elements::new(&output));
    let chunks = Chunks::new(context, count, LEAST).at_most(sizes[0]);
    split::tasks(context, chunks, |chunk| {
        let range = chunk.range(sizes[0]);
        let mut own = sizes;
        own[0] = range.len();
        let (from_offset, to_offset) = (range.start * from[0], range.start * to[0]);
        let strided = Strided { sizes: &own[..rank], from: &from[..rank], from_offset, to: &to[..rank], to_offset };
        let output = core::ptr::slice_from_raw_parts_mut(elements.start(), length);
        // SAFETY: `output` is the only access to the output tensor, and tasks have disjoint elements.
        unsafe { copy_part(level, &strided, input, output) }
    })
}

/// The number of elements that the strides span.
fn span(sizes: [usize; MOST], strides: [usize; MOST]) -> Result<usize> {
    let mut last = 1_usize;
    for (size, stride) in sizes.into_iter().zip(strides) {
        let Some(steps) = size.checked_sub(1) else { return Ok(0) };
        let distance = steps.checked_mul(stride).ok_or(Error::InvalidProgram)?;
        last = last.checked_add(distance).ok_or(Error::InvalidProgram)?;
    }
    Ok(last)
}

/// Embedding lookup: table rows by index.
pub fn gather(context: &Context<'_, '_, '_>, fields: &Gather) -> Result<()> {
    let [limit, count, width] = [fields.limit, fields.count, fields.width].map(|number| number as usize);
    let mut operands = context.memory.operands();
    let table = operands.read::<u8>(fields.table, limit.checked_mul(width).ok_or(Error::InvalidProgram)?)?;
    let indices = operands.read::<i64>(fields.indices, count)?;
    let bytes = count.checked_mul(width).ok_or(Error::InvalidProgram)?;
    let output = operands.write::<u8>(*fields.output, bytes)?.slice();
    for (row, index) in output.chunks_exact_mut(width.max(1)).zip(indices) {
        let index = usize::try_from(*index).map_err(|_| Error::InvalidArgument)?;
        let start = index.checked_mul(width).ok_or(Error::InvalidArgument)?;
        row.copy_from_slice(table.get(start..start + width).ok_or(Error::InvalidArgument)?);
    }
    Ok(())
}
