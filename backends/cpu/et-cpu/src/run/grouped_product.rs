//! GEMM of dynamically quantized int8 rows with blockwise int4 weights.

use et_core::{Error, Result};
use et_gemm::{Int4Gemm, Int4Operands, Isa, RowScale};

use crate::GroupedProduct;
use crate::run::Context;
use crate::run::images::count;
use crate::run::product::{LEAST, activation};
use crate::run::rectangle::Rectangle;

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, fields: &GroupedProduct) -> Result<()> {
    let [rows, inner, columns] = fields.sizes.map(|size| size as usize);
    let planned = planned(fields, context.isa)?;
    let mut operands = context.memory.operands();
    let read = Int4Operands {
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

/// The workspace size per thread, in bytes.
pub fn workspace(fields: &GroupedProduct, isa: Isa) -> usize {
    planned(fields, isa).map_or(0, |planned| planned.scratch_size())
}

fn planned(fields: &GroupedProduct, isa: Isa) -> Result<Int4Gemm> {
    let form = fields.groups.form()?.ok_or(Error::InvalidProgram)?;
    Int4Gemm::new(fields.sizes.map(|size| size as usize), form, isa)
}
