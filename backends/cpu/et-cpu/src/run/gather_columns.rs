//! Embedding lookup in packed int8 or int4 weights.

use et_core::{Error, Result};
use et_gemm::{Int4Gemm, Int8Gemm, Shape};

use crate::GatherColumns;
use crate::run::Context;
use crate::run::images::count;

/// Executes the instruction: the transpose of the embedding table is packed.
pub fn run(context: &Context<'_, '_, '_>, fields: &GatherColumns) -> Result<()> {
    let [rows, inner, columns] = fields.sizes.map(|size| size as usize);
    let isa = context.isa;
    if let Some(form) = fields.weights.form()? {
        let product = Int4Gemm::new([1, inner, columns], form, isa)?;
        return each(context, fields, [rows, inner], |weights, column, row| product.column(weights, column, row));
    }
    let product = Int8Gemm::new(Shape::product(1, inner, columns), isa)?;
    each(context, fields, [rows, inner], |weights, column, row| product.column(weights, column, row))
}

/// Calls `read` for each index; `read` unpacks and dequantizes a column of the weights to the output row.
fn each(
    context: &Context<'_, '_, '_>,
    fields: &GatherColumns,
    [rows, inner]: [usize; 2],
    read: impl Fn(&[u8], usize, &mut [f32]) -> Result<()>,
) -> Result<()> {
    let mut operands = context.memory.operands();
    let weights = operands.read_all::<u8>(fields.weights.slot)?;
    let indices = operands.read::<i64>(fields.indices, rows)?;
    let output = operands.write::<f32>(*fields.output, count(&[rows, inner])?)?.slice();
    for (row, index) in output.chunks_exact_mut(inner.max(1)).zip(indices) {
        read(weights, usize::try_from(*index).map_err(|_| Error::InvalidArgument)?, row)?;
    }
    Ok(())
}
