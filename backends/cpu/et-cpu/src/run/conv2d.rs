//! Convolution and GEMM with packed weights: the types of the operands select the GEMM.

mod float;
mod int4;
mod int8;
mod weight_only;

use et_core::{Error, Result};
use et_gemm::{Activation, Isa, Residual, Shape};

use crate::memory::{Operands, Plain};
use crate::run::Context;
use crate::run::rectangle::Rectangle;
use crate::{ActivationKind, Conv2d, Epilogue, Gemm, Rows, Window, shape};

/// The minimum multiply-accumulates of a task.
pub const LEAST: usize = 1 << 15;

/// Executes the instruction. A GEMM that is not compiled references no function, so the linker drops its micro-kernels.
pub fn run(context: &Context<'_, '_, '_>, fields: &Conv2d) -> Result<()> {
    match fields.gemm().ok_or(Error::InvalidProgram)? {
        Gemm::Float if cfg!(feature = "float-products") => float::run(context, fields),
        Gemm::Int8 if cfg!(feature = "byte-products") => int8::run(context, fields),
        Gemm::Int4 if cfg!(feature = "grouped-products") => int4::run(context, fields),
        Gemm::WeightOnly if cfg!(feature = "wide-products") => weight_only::run(context, fields),
        _ => Err(Error::NotSupported),
    }
}

/// The workspace size per thread, in bytes.
pub fn workspace(fields: &Conv2d, isa: Isa) -> usize {
    let size = match fields.gemm() {
        Some(Gemm::Float) => float::workspace(fields, isa),
        Some(Gemm::Int8) => int8::workspace(fields, isa),
        Some(Gemm::Int4) => int4::planned(fields, isa).map(|planned| planned.scratch_size()),
        Some(Gemm::WeightOnly) => weight_only::planned(fields, isa).map(|planned| planned.scratch_size()),
        None => Ok(0),
    };
    size.unwrap_or(0)
}

/// The shape of a convolution over the pixels of `input`.
pub fn shape_of(window: &Window, input: Rows) -> Result<Shape> {
    shape(window, input.stride as usize).ok_or(Error::InvalidProgram)
}

/// M, K and N of a GEMM over contiguous rows, without an epilogue but an activation.
fn sizes_of_rows(fields: &Conv2d) -> Result<[usize; 3]> {
    let shape = shape_of(&fields.window, fields.input)?;
    let are_rows = shape.is_pointwise() && [shape.groups, shape.pixel_stride] == [1, shape.channels];
    let has_more = fields.epilogue.residual.place.is_present() || fields.output_qparams.is_int8();
    match are_rows && !has_more {
        true => Ok([shape.rows(), shape.channels, shape.columns]),
        false => Err(Error::InvalidProgram),
    }
}

/// The input pixels and the output pixels of a convolution.
pub fn rectangles(shape: &Shape, input: Rows, output: Rows) -> (Rectangle, Rectangle) {
    let sizes = [shape.planes, shape.input[0], shape.input[1]];
    let pixels = sizes.into_iter().fold(shape.batch, usize::saturating_mul);
    let read = Rectangle { place: input, rows: pixels, columns: shape.groups * shape.channels };
    (read, Rectangle { place: output, rows: shape.rows(), columns: shape.all_columns() })
}

/// The multiply-accumulates of a convolution.
pub const fn work(shape: &Shape) -> usize {
    shape.rows().saturating_mul(shape.all_columns()).saturating_mul(shape.depth())
}

/// The residual tensor of the epilogue, with the shape of `output`.
pub fn residual<'m, T: Plain>(
    epilogue: &Epilogue,
    output: &Rectangle,
    operands: &mut Operands<'m, '_, '_>,
) -> Result<Option<Residual<'m, T>>> {
    let place = epilogue.residual;
    if !place.place.is_present() {
        return Ok(None);
    }
    let elements = Rectangle { place, ..*output }.read(operands)?;
    Ok(Some(Residual { elements, stride: place.stride as usize, after: epilogue.residual_last == 1 }))
}

/// The activation of the GEMM epilogue.
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
