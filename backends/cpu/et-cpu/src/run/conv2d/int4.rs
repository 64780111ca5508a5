//! GEMM of dynamically quantized int8 rows with blockwise int4 weights.

use et_core::{Error, Result};
use et_gemm::{Int4Gemm, Int4Operands, Isa, RowScale};

use crate::Conv2d;
use crate::run::Context;
use crate::run::conv2d::{LEAST, activation, sizes_of_rows};
use crate::run::images::count;
use crate::run::rectangle::Rectangle;

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, fields: &Conv2d) -> Result<()> {
    let [rows, inner, columns] = sizes_of_rows(fields)?;
    let planned = planned(fields, context.isa)?;
    let mut operands = context.memory.operands();
    let read = Int4Operands {
        input: operands.read::<i8>(fields.input.place, count(&[rows, inner])?)?,
        row_scales: operands.read::<RowScale>(fields.row_scales, rows)?,
        weights: operands.read_all::<u8>(fields.weights.slot)?,
        activation: activation(&fields.epilogue.activation)?,
    };
    let output = Rectangle { place: *fields.output, rows, columns };
    let work = (count(&[rows, inner, columns])?, LEAST);
    output.write(context, operands, &planned.grid(), work, |output, block, workspace| {
        planned.compute(&read, output, block, workspace)
    })
}

/// The GEMM of the instruction.
pub fn planned(fields: &Conv2d, isa: Isa) -> Result<Int4Gemm> {
    let form = fields.weights.form()?.ok_or(Error::InvalidProgram)?;
    Int4Gemm::new(sizes_of_rows(fields)?, form, isa)
}
