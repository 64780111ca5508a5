//! f32 convolution and GEMM.

use et_core::{Error, Result};
use et_gemm::{FloatOperands, FloatProduct, Isa, Shape};

use crate::Conv2d;
use crate::memory::Operands;
use crate::run::Context;
use crate::run::conv2d::{LEAST, activation, rectangles, residual, shape_of, work};

/// Executes the instruction.
pub fn run(context: &Context<'_, '_, '_>, fields: &Conv2d) -> Result<()> {
    let shape = shape_of(&fields.window, fields.input)?;
    let planned = FloatProduct::new(shape, context.isa)?;
    let (input, output) = rectangles(&shape, fields.input, *fields.output);
    let mut operands = context.memory.operands();
    let read = FloatOperands {
        input: input.read(&mut operands)?,
        weights: operands.read_all::<u8>(fields.weights.slot)?,
        activation: activation(&fields.epilogue.activation)?,
        residual: residual(&fields.epilogue, &output, &mut operands)?,
    };
    let scales = channel_scales(fields, &shape, &mut operands)?;
    let work = (work(&shape), LEAST);
    output.write(context, operands, &planned.grid(), work, |output, block, workspace| {
        let Some(scales) = scales.filter(|_| !block.is_empty()) else {
            return planned.compute(&read, output, block, workspace);
        };
        let (weights, workspace) = workspace.split_at_mut_checked(scaled(&planned)).ok_or(Error::InvalidProgram)?;
        let weights = weights.get_mut(..planned.packed_size()).ok_or(Error::InvalidProgram)?;
        planned.scale(read.weights, scales, weights)?;
        planned.compute(&FloatOperands { weights, ..read }, output, block, workspace)
    })
}

/// The per-channel scales of the input tensor.
fn channel_scales<'m>(
    fields: &Conv2d,
    shape: &Shape,
    operands: &mut Operands<'m, '_, '_>,
) -> Result<Option<&'m [f32]>> {
    let place = fields.channel_scales;
    place.is_present().then(|| operands.read(place, shape.channels)).transpose()
}

/// Bytes of the scaled copy of the packed weights, in whole cache lines.
const fn scaled(planned: &FloatProduct) -> usize {
    planned.packed_size().next_multiple_of(64)
}

/// The workspace size per thread, in bytes.
pub fn workspace(fields: &Conv2d, isa: Isa) -> Result<usize> {
    let planned = FloatProduct::new(shape_of(&fields.window, fields.input)?, isa)?;
    let weights = if fields.channel_scales.is_present() { scaled(&planned) } else { 0 };
    Ok(weights.saturating_add(planned.scratch_size()))
}
