//! Products of rows that were quantized at run time with weights of half a byte.
#![allow(unsafe_code, reason = "tasks write disjoint rectangles of one result")]

use et_core::{Error, Result};
use et_gemm::{Isa, NibbleOperands, NibbleProduct, Output, RowScale};

use crate::run::Context;
use crate::run::depthwise::count;
use crate::run::product::{LEAST, activation, span};
use crate::split::{self, Elements, Task};
use crate::{GroupedProduct, byte_isa};

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
    let written = operands.write::<f32>(fields.output.place, span(rows, fields.output, columns)?)?;
    let (grid, stride) = (planned.grid(), fields.output.stride as usize);
    if !split::are_apart([(rows, stride), (columns, 1)]) {
        return Err(Error::InvalidProgram);
    }
    let parts = split::parts(context, count(&[rows, inner, columns])?, LEAST);
    let elements = Elements::new(&written);
    split::tasks(context, parts, |Task { index, workspace }| {
        // SAFETY: `written` is the only access to these rows, and blocks of a grid are disjoint.
        let mut output = unsafe { Output::from_raw(elements.start(), rows, columns, stride) };
        planned.compute(&read, &mut output, grid.part(index, parts), workspace)
    })
}

/// The bytes of its own memory that a thread needs.
pub fn workspace(fields: &GroupedProduct, isa: Isa) -> usize {
    planned(fields, isa).map_or(0, |planned| planned.scratch_size())
}

fn planned(fields: &GroupedProduct, isa: Isa) -> Result<NibbleProduct> {
    let [rows, inner, columns, group] = fields.sizes.map(|size| size as usize);
    NibbleProduct::new(rows, inner, columns, group, byte_isa(isa))
}
