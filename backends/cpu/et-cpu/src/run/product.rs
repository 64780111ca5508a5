//! Convolutions and products with packed weights.
#![allow(unsafe_code, reason = "tasks write disjoint rectangles of one result")]

use et_core::{Error, Result};
use et_gemm::{Activation, FloatOperands, FloatProduct, Isa, Output, Residual};

use crate::run::Context;
use crate::split::{self, Elements, Task};
use crate::{ActivationKind, Product, Rows, shape};

/// The least number of multiplications that are worth a task.
pub const LEAST: usize = 1 << 15;

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, product: &Product) -> Result<()> {
    let planned = planned(product, context.isa)?;
    let shape = shape(&product.window, product.input.stride as usize).ok_or(Error::InvalidProgram)?;
    let (rows, columns) = (shape.rows(), shape.all_columns());
    let pixels = shape.batch * shape.input[0] * shape.input[1];
    let mut operands = context.memory.operands();
    let input = operands.read(product.input.place, span(pixels, product.input, shape.groups * shape.channels)?)?;
    let weights = operands.read_all::<u8>(product.weights)?;
    let residual = match product.residual.place.is_present() {
        true => Some(Residual {
            elements: operands.read(product.residual.place, span(rows, product.residual, columns)?)?,
            stride: product.residual.stride as usize,
            after: product.residual_last == 1,
        }),
        false => None,
    };
    let written = operands.write::<f32>(product.output.place, span(rows, product.output, columns)?)?;
    let operands = FloatOperands { input, weights, activation: activation(&product.activation)?, residual };
    let (grid, stride) = (planned.grid(), product.output.stride as usize);
    if !split::are_apart([(rows, stride), (columns, 1)]) {
        return Err(Error::InvalidProgram);
    }
    let parts = split::parts(context, rows.saturating_mul(columns).saturating_mul(shape.depth()), LEAST);
    let elements = Elements::new(&written);
    split::tasks(context, parts, |Task { index, workspace }| {
        // SAFETY: `written` is the only access to these rows, and blocks of a grid are disjoint.
        let mut output = unsafe { Output::from_raw(elements.start(), rows, columns, stride) };
        planned.compute(&operands, &mut output, grid.part(index, parts), workspace)
    })
}

/// The bytes of its own memory that a thread needs.
pub fn workspace(product: &Product, isa: Isa) -> usize {
    planned(product, isa).map_or(0, |planned| planned.scratch_size())
}

fn planned(product: &Product, isa: Isa) -> Result<FloatProduct> {
    let shape = shape(&product.window, product.input.stride as usize).ok_or(Error::InvalidProgram)?;
    FloatProduct::new(shape, isa)
}

/// The elements from the first row's begin to the last row's end.
pub fn span(count: usize, rows: Rows, columns: usize) -> Result<usize> {
    let Some(last) = count.checked_sub(1) else { return Ok(0) };
    let start = last.checked_mul(rows.stride as usize);
    start.and_then(|start| start.checked_add(columns)).ok_or(Error::InvalidProgram)
}

/// The activation as products know it.
pub fn activation(activation: &crate::Activation) -> Result<Activation> {
    let kind = ActivationKind::from_number(activation.kind).ok_or(Error::InvalidProgram)?;
    Ok(match kind {
        ActivationKind::Identity if activation.low == f32::NEG_INFINITY && activation.high == f32::INFINITY => {
            Activation::None
        }
        ActivationKind::Identity => Activation::Clamp(activation.low, activation.high),
        ActivationKind::Hardswish => Activation::HardSwish,
        ActivationKind::Hardsigmoid => Activation::HardSigmoid,
        ActivationKind::Silu => Activation::Silu,
        ActivationKind::Gelu => Activation::Gelu,
        ActivationKind::GeluTanh => Activation::GeluTanh,
        ActivationKind::Sigmoid => Activation::Sigmoid,
    })
}
