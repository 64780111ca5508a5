//! GEMM of f32 rows with int8 or int4 weights.

use et_core::Result;
use et_gemm::{Isa, WeightOnlyGemm, WeightOnlyOperands};

use crate::run::Context;
use crate::run::images::count;
use crate::run::product::{LEAST, activation};
use crate::run::rectangle::Rectangle;

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, fields: &crate::WideProduct) -> Result<()> {
    let [rows, inner, columns] = fields.sizes.map(|size| size as usize);
    let planned = planned(fields, context.isa)?;
    let mut operands = context.memory.operands();
    let read = WeightOnlyOperands {
        input: operands.read::<f32>(fields.input, count(&[rows, inner])?)?,
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
pub fn workspace(fields: &crate::WideProduct, isa: Isa) -> usize {
    planned(fields, isa).map_or(0, |planned| planned.scratch_size())
}

fn planned(fields: &crate::WideProduct, isa: Isa) -> Result<WeightOnlyGemm> {
    let sizes = fields.sizes.map(|size| size as usize);
    match fields.groups.form()? {
        None => WeightOnlyGemm::bytes(sizes, isa),
        Some(form) => WeightOnlyGemm::halves(sizes, form, isa),
    }
}
