//! f32 convolution and GEMM with packed weights.

use et_core::{Error, Result};
use et_gemm::{Activation, FloatOperands, FloatProduct, Isa, Residual, Shape};

use crate::memory::Operands;
use crate::run::Context;
use crate::run::rectangle::Rectangle;
use crate::{ActivationKind, Product, Rows, Window, shape};

/// The minimum multiply-accumulates of a task.
pub const LEAST: usize = 1 << 15;

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, product: &Product) -> Result<()> {
    let shape = shape_of(&product.window, product.input)?;
    let planned = FloatProduct::new(shape, context.isa)?;
    let (input, output) = rectangles(&shape, product.input, product.output);
    let mut operands = context.memory.operands();
    let read = FloatOperands {
        input: input.read(&mut operands)?,
        weights: operands.read_all::<u8>(product.weights)?,
        activation: activation(&product.activation)?,
        residual: residual(product, &output, &mut operands)?,
    };
    let factors = factors(product, &shape, &mut operands)?;
    let work = (work(&shape), LEAST);
    output.write(context, operands, &planned.grid(), work, |output, block, workspace| {
        let Some(factors) = factors.filter(|_| !block.is_empty()) else {
            return planned.compute(&read, output, block, workspace);
        };
        let (weights, workspace) = workspace.split_at_mut_checked(scaled(&planned)).ok_or(Error::InvalidProgram)?;
        let weights = weights.get_mut(..planned.packed_size()).ok_or(Error::InvalidProgram)?;
        planned.scale(read.weights, factors, weights)?;
        planned.compute(&FloatOperands { weights, ..read }, output, block, workspace)
    })
}

/// The per-channel factors of the input tensor.
fn factors<'m>(product: &Product, shape: &Shape, operands: &mut Operands<'m, '_, '_>) -> Result<Option<&'m [f32]>> {
    product.factors.is_present().then(|| operands.read(product.factors, shape.channels)).transpose()
}

/// Bytes of the scaled copy of the packed weights, in whole cache lines.
const fn scaled(planned: &FloatProduct) -> usize {
    planned.packed_size().next_multiple_of(64)
}

/// The residual tensor of the epilogue, with the shape of `output`.
pub fn residual<'m>(
    product: &Product,
    output: &Rectangle,
    operands: &mut Operands<'m, '_, '_>,
) -> Result<Option<Residual<'m, f32>>> {
    let place = product.residual;
    if !place.place.is_present() {
        return Ok(None);
    }
    let elements = Rectangle { place, ..*output }.read(operands)?;
    Ok(Some(Residual { elements, stride: place.stride as usize, after: product.residual_last == 1 }))
}

/// The workspace size per thread, in bytes.
pub fn workspace(product: &Product, isa: Isa) -> usize {
    let planned = shape_of(&product.window, product.input).and_then(|shape| FloatProduct::new(shape, isa));
    let weights = |planned: &FloatProduct| if product.factors.is_present() { scaled(planned) } else { 0 };
    planned.map_or(0, |planned| weights(&planned).saturating_add(planned.scratch_size()))
}

/// The shape of a convolution over the pixels of `input`.
pub fn shape_of(window: &Window, input: Rows) -> Result<Shape> {
    shape(window, input.stride as usize).ok_or(Error::InvalidProgram)
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
