//! Products of rows that were quantized at run time with weights of half a byte, and single columns of those.

use et_core::{Error, Result};
use et_gemm::{Isa, NibbleOperands, NibbleProduct, RowScale};

use crate::run::Context;
use crate::run::images::count;
use crate::run::product::{LEAST, activation};
use crate::run::rectangle::Rectangle;
use crate::{GatherColumns, GroupedProduct, byte_isa};

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, fields: &GroupedProduct) -> Result<()> {
    let [rows, inner, columns, _] = fields.sizes.map(|size| size as usize);
    let planned = planned(fields, context.isa)?;
    let mut operands = context.memory.operands();
    let read = NibbleOperands {
        input: operands.read::<i8>(fields.input, count(&[rows, inner])?)?,
        row_scales: operands.read::<RowScale>(fields.row_scales, rows)?,
        weights: operands.read_all::<u8>(fields.weights)?,
        activation: activation(&fields.activation)?,
    };
    let output = Rectangle { place: fields.output, rows, columns };
    let work = (count(&[rows, inner, columns])?, LEAST);
    output.write(context, operands, &planned.grid(), work, |output, block, workspace| {
        planned.compute(&read, output, block, workspace)
    })
}

/// The bytes of its own memory that a thread needs.
pub fn workspace(fields: &GroupedProduct, isa: Isa) -> usize {
    planned(fields, isa).map_or(0, |planned| planned.scratch_size())
}

/// Rows of a table whose transpose is packed.
pub fn gather(context: &Context<'_, '_, '_>, fields: &GatherColumns) -> Result<()> {
    let [rows, inner, columns, group] = fields.sizes.map(|size| size as usize);
    let product = NibbleProduct::new([1, inner, columns], group, false, byte_isa(context.isa))?;
    let mut operands = context.memory.operands();
    let weights = operands.read_all::<u8>(fields.weights)?;
    let indices = operands.read::<i64>(fields.indices, rows)?;
    let output = operands.write::<f32>(fields.output, count(&[rows, inner])?)?.slice();
    for (row, index) in output.chunks_exact_mut(inner.max(1)).zip(indices) {
        let column = usize::try_from(*index).map_err(|_| Error::InvalidArgument)?;
        product.column(weights, column, row)?;
    }
    Ok(())
}

fn planned(fields: &GroupedProduct, isa: Isa) -> Result<NibbleProduct> {
    let [rows, inner, columns, group] = fields.sizes.map(|size| size as usize);
    NibbleProduct::new([rows, inner, columns], group, fields.is_biased == 1, byte_isa(isa))
}
