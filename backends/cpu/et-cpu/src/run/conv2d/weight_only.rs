//! GEMM of f32 rows with int8 or int4 weights.

use et_core::Result;
use et_gemm::{Isa, WeightOnlyGemm, WeightOnlyOperands};

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
    let read = WeightOnlyOperands {
        input: operands.read::<f32>(fields.input.place, count(&[rows, inner])?)?,
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
pub fn planned(fields: &Conv2d, isa: Isa) -> Result<WeightOnlyGemm> {
    let sizes = sizes_of_rows(fields)?;
    match fields.weights.form()? {
        None => WeightOnlyGemm::bytes(sizes, isa),
        Some(form) => WeightOnlyGemm::halves(sizes, form, isa),
    }
}
