//! Embedding lookup: rows of a table, or columns of packed weights, by index.

use et_core::{Error, Plain, Result};
use et_gemm::{BlockGemm, HalfWeights, Int8Gemm, Shape, float_column};

use crate::memory::Operands;
use crate::split::{Context, count};
use crate::{Gather, GatherColumns, Place};

/// The bits of an element of packed float32 weights.
const FLOAT_BITS: u32 = 32;

/// Gathers rows of a table.
pub fn rows(context: &Context<'_, '_, '_>, fields: &Gather) -> Result<()> {
    let [limit, indices, width] = [fields.limit, fields.count, fields.width].map(|number| number as usize);
    let mut operands = context.memory.operands();
    let table = operands.read::<u8>(fields.table, count(&[limit, width])?)?;
    each(operands, fields.indices, *fields.output, [indices, width], |index, row: &mut [u8]| {
        let start = index.checked_mul(width).ok_or(Error::InvalidArgument)?;
        row.copy_from_slice(table.get(start..start + width).ok_or(Error::InvalidArgument)?);
        Ok(())
    })
}

/// Gathers columns of packed weights, dequantized: the transpose of the embedding table is packed.
pub fn columns(context: &Context<'_, '_, '_>, fields: &GatherColumns) -> Result<()> {
    let [indices, inner, columns] = fields.sizes.map(|size| size as usize);
    let (isa, mut operands) = (context.isa, context.memory.operands());
    let weights = operands.read_all::<u8>(fields.weights.slot)?;
    let (places, sizes) = ((fields.indices, *fields.output), [indices, inner]);
    if let Some(kind) = fields.weights.halves() {
        let table = HalfWeights::new([inner, columns], kind, isa)?;
        return each(operands, places.0, places.1, sizes, |index, row| table.column(weights, index, row));
    }
    if let Some(form) = fields.weights.form()? {
        let gemm = BlockGemm::new([1, inner, columns], form, isa)?;
        return each(operands, places.0, places.1, sizes, |index, row| gemm.column(weights, index, row));
    }
    if fields.weights.bits == FLOAT_BITS {
        let column = |index, row: &mut [f32]| float_column([inner, columns], isa.architecture(), weights, index, row);
        return each(operands, places.0, places.1, sizes, column);
    }
    let gemm = Int8Gemm::new(Shape::product(1, inner, columns), isa)?;
    each(operands, places.0, places.1, sizes, |index, row| gemm.column(weights, index, row))
}

/// Calls `read` with each index and an output row of `width` elements.
fn each<T: Plain>(
    mut operands: Operands<'_, '_, '_>,
    indices: Place,
    output: Place,
    [rows, width]: [usize; 2],
    read: impl Fn(usize, &mut [T]) -> Result<()>,
) -> Result<()> {
    let indices = operands.read::<i64>(indices, rows)?;
    let output = operands.write::<T>(output, count(&[rows, width])?)?.slice();
    output
        .chunks_exact_mut(width.max(1))
        .zip(indices)
        .try_for_each(|(row, index)| read(usize::try_from(*index).map_err(|_| Error::InvalidArgument)?, row))
}
