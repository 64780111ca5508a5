//! Strided tensor copies.
#![allow(unsafe_code, reason = "the elements that are written interleave with others of the same buffer")]

use et_core::{Error, Plain, Result};
use et_kernels::copy::{Strided, copy_part};

use crate::Copy;
use crate::split::{self, Chunks, Context, Elements, span};

/// The minimum elements of a task.
const LEAST: usize = 1 << 14;

/// The maximum number of dimensions.
const MOST: usize = 8;

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, fields: &Copy) -> Result<()> {
    match fields.width {
        1 if cfg!(feature = "byte-copies") => of_type::<u8>(context, fields),
        2 if cfg!(feature = "wide-copies") => of_type::<[u8; 2]>(context, fields),
        4 => of_type::<f32>(context, fields),
        8 if cfg!(feature = "wide-copies") => of_type::<i64>(context, fields),
        1 | 2 | 8 => Err(Error::NotSupported),
        _ => Err(Error::InvalidProgram),
    }
}

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
