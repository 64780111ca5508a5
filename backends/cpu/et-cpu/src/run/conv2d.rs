//! Convolution and GEMM with packed weights: the types of the operands select the GEMM.

use et_core::{Error, Plain, Result};
use et_gemm::{
    Activation, BlockGemm, BlockOperands, FloatOperands, FloatProduct, Int8Gemm, Int8Operands, Int8Residual, Isa,
    Quantization, Residual, RowScale, Shape, WeightOnlyGemm, WeightOnlyOperands,
};

use crate::memory::Operands;
use crate::split::{Context, Rectangle, count};
use crate::{ActivationKind, Conv2d, Epilogue, Gemm, QParams, Rows, Weights, Window};

/// The minimum multiply-accumulates of a task.
pub const LEAST: usize = 1 << 15;

/// Executes the instruction. A GEMM that is not compiled references no function, so the linker drops its micro-kernels.
pub fn run(context: &Context<'_, '_, '_>, fields: &Conv2d) -> Result<()> {
    match fields.gemm().ok_or(Error::InvalidProgram)? {
        Gemm::Float if cfg!(feature = "float-products") => float(context, fields),
        Gemm::Int8 if cfg!(feature = "byte-products") => int8(context, fields),
        Gemm::Blocks if cfg!(feature = "grouped-products") => blocks(context, fields),
        Gemm::WeightOnly if cfg!(feature = "wide-products") => weight_only(context, fields),
        _ => Err(Error::NotSupported),
    }
}

/// The workspace size per thread, in bytes; `packed` is the size of the packed weights.
pub fn workspace(fields: &Conv2d, isa: Isa, packed: usize) -> usize {
    let shape = || shape_of(&fields.window, fields.input);
    let size = match fields.gemm() {
        Some(Gemm::Float) => shape().and_then(|shape| FloatProduct::of_packed(shape, isa, packed)).map(|planned| {
            let weights = if fields.channel_scales.is_present() { scaled(&planned) } else { 0 };
            weights.saturating_add(planned.scratch_size())
        }),
        Some(Gemm::Int8) => shape().and_then(|shape| Int8Gemm::new(shape, isa)).map(|planned| planned.scratch_size()),
        Some(Gemm::Blocks) => planned_blocks(fields, isa).map(|planned| planned.scratch_size()),
        Some(Gemm::WeightOnly) => planned_weight_only(fields, isa).map(|planned| planned.scratch_size()),
        None => Ok(0),
    };
    size.unwrap_or(0)
}

/// f32 convolution and GEMM.
fn float(context: &Context<'_, '_, '_>, fields: &Conv2d) -> Result<()> {
    let shape = shape_of(&fields.window, fields.input)?;
    let (input, output) = rectangles(&shape, fields.input, *fields.output);
    let mut operands = context.memory.operands();
    let weights = operands.read_all::<u8>(fields.weights.slot)?;
    let planned = FloatProduct::of_packed(shape, context.isa, weights.len())?;
    let read = FloatOperands {
        input: input.read(&mut operands)?,
        weights,
        activation: activation(&fields.epilogue.activation),
        residual: residual(&fields.epilogue, &output, &mut operands)?,
    };
    let scales = fields.channel_scales;
    let scales = operands.read_present::<f32>(scales, shape.channels)?;
    output.write(context, operands, &planned.grid(), (work(&shape), LEAST), |output, block, workspace| {
        let Some(scales) = scales.filter(|_| !block.is_empty()) else {
            return planned.compute(&read, output, block, workspace);
        };
        let (weights, workspace) = workspace.split_at_mut_checked(scaled(&planned)).ok_or(Error::InvalidProgram)?;
        let weights = weights.get_mut(..planned.packed_size()).ok_or(Error::InvalidProgram)?;
        planned.scale(read.weights, scales, weights)?;
        planned.compute(&FloatOperands { weights, ..read }, output, block, workspace)
    })
}

/// Bytes of a copy of the packed weights that is scaled by channel, in whole cache lines.
const fn scaled(planned: &FloatProduct) -> usize {
    planned.packed_size().next_multiple_of(64)
}

/// int8 convolution and GEMM with packed int8 weights.
fn int8(context: &Context<'_, '_, '_>, fields: &Conv2d) -> Result<()> {
    let shape = shape_of(&fields.window, fields.input)?;
    let planned = Int8Gemm::new(shape, context.isa)?;
    let (input, output) = rectangles(&shape, fields.input, *fields.output);
    let Epilogue { is_divided, activation: limits, .. } = &fields.epilogue;
    let mut operands = context.memory.operands();
    let read = Int8Operands {
        input: input.read(&mut operands)?,
        zero_point: byte(fields.input_qparams.zero_point)?,
        row_scales: match fields.row_scales.is_present() {
            true => row_scales(fields, output.rows, &mut operands)?,
            false => &[],
        },
        weights: operands.read_all::<u8>(fields.weights.slot)?,
        // Without an activation function, requantization clamps in int8 instead.
        activation: if *is_divided { Activation::None } else { activation(limits) },
        residual: int8_residual(fields, &output, &mut operands)?,
    };
    // An int8 multiply-accumulate takes a quarter of the time of an f32 multiply-accumulate.
    let (grid, work) = (planned.grid(), (work(&shape), 4 * LEAST));
    if fields.output_qparams.is_int8() {
        let quantization = quantization(fields)?;
        output.write(context, operands, &grid, work, |output, block, workspace| {
            planned.compute(&read, quantization, output, block, workspace)
        })
    } else {
        output.write(context, operands, &grid, work, |output, block, workspace| {
            planned.compute_floats(&read, output, block, workspace)
        })
    }
}

/// The residual tensor of an int8 GEMM: int8 or f32.
fn int8_residual<'m>(
    fields: &Conv2d,
    output: &Rectangle,
    operands: &mut Operands<'m, '_, '_>,
) -> Result<Option<Int8Residual<'m>>> {
    let epilogue = &fields.epilogue;
    let QParams { scale, zero_point } = epilogue.residual_qparams;
    if !epilogue.residual_qparams.is_int8() {
        return Ok(residual(epilogue, output, operands)?.map(Int8Residual::Floats));
    }
    let Some(residual) = residual(epilogue, output, operands)? else { return Ok(None) };
    let scale = if epilogue.is_divided { scale / fields.output_qparams.scale } else { scale };
    Ok(Some(Int8Residual::Bytes(residual, scale, byte(zero_point)?)))
}

/// The requantization. Where the packed scales include the output scale, the clamp limits are int8.
fn quantization(fields: &Conv2d) -> Result<Quantization> {
    let QParams { scale, zero_point } = fields.output_qparams;
    let (inverse_scale, limits) = match fields.epilogue.is_divided {
        true => (1.0, fields.epilogue.activation),
        false => (1.0 / scale, crate::Activation::clamp(f32::NEG_INFINITY, f32::INFINITY)),
    };
    let [least, most] = byte_limits(&limits, &fields.output_qparams);
    Ok(Quantization { inverse_scale, zero_point: byte(zero_point)?, least, most })
}

/// GEMM of dynamically quantized int8 rows with blockwise weights.
fn blocks(context: &Context<'_, '_, '_>, fields: &Conv2d) -> Result<()> {
    let [rows, inner, columns] = sizes_of_rows(fields)?;
    let planned = planned_blocks(fields, context.isa)?;
    let mut operands = context.memory.operands();
    let read = BlockOperands {
        input: operands.read::<i8>(fields.input.place, count(&[rows, inner])?)?,
        row_scales: row_scales(fields, rows, &mut operands)?,
        weights: operands.read_all::<u8>(fields.weights.slot)?,
        activation: activation(&fields.epilogue.activation),
    };
    let output = Rectangle { place: *fields.output, rows, columns };
    let work = (count(&[rows, inner, columns])?, LEAST);
    output.write(context, operands, &planned.grid(), work, |output, block, workspace| {
        planned.compute(&read, output, block, workspace)
    })
}

/// The qparams of `rows` input rows that are quantized at run time.
pub fn row_scales<'m>(fields: &Conv2d, rows: usize, operands: &mut Operands<'m, '_, '_>) -> Result<&'m [RowScale]> {
    operands.read(fields.row_scales.place, count(&[rows, fields.row_scales.blocks as usize])?)
}

fn planned_blocks(fields: &Conv2d, isa: Isa) -> Result<BlockGemm> {
    let form = fields.weights.form()?.ok_or(Error::InvalidProgram)?;
    BlockGemm::new(sizes_of_rows(fields)?, form, isa)
}

/// GEMM of f32 rows with 16-bit, int8, int6 or int4 weights.
fn weight_only(context: &Context<'_, '_, '_>, fields: &Conv2d) -> Result<()> {
    let [rows, inner, columns] = sizes_of_rows(fields)?;
    let planned = planned_weight_only(fields, context.isa)?;
    let mut operands = context.memory.operands();
    let read = WeightOnlyOperands {
        input: operands.read::<f32>(fields.input.place, count(&[rows, inner])?)?,
        weights: operands.read_all::<u8>(fields.weights.slot)?,
        activation: activation(&fields.epilogue.activation),
    };
    let output = Rectangle { place: *fields.output, rows, columns };
    let work = (count(&[rows, inner, columns])?, LEAST);
    output.write(context, operands, &planned.grid(), work, |output, block, workspace| {
        planned.compute(&read, output, block, workspace)
    })
}

fn planned_weight_only(fields: &Conv2d, isa: Isa) -> Result<WeightOnlyGemm> {
    weight_only_of(&fields.weights, sizes_of_rows(fields)?, isa)
}

/// The GEMM of f32 rows with weights of these sizes.
pub fn weight_only_of(weights: &Weights, sizes: [usize; 3], isa: Isa) -> Result<WeightOnlyGemm> {
    match (weights.halves(), weights.form()?) {
        (Some(kind), _) => WeightOnlyGemm::halves(sizes, kind, isa),
        (None, None) => WeightOnlyGemm::bytes(sizes, isa),
        (None, Some(form)) => WeightOnlyGemm::blocks(sizes, form, isa),
    }
}

/// The shape of a convolution over the pixels of `input`.
pub fn shape_of(window: &Window, input: Rows) -> Result<Shape> {
    window.shape(input.stride as usize).ok_or(Error::InvalidProgram)
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
    Ok(Some(Residual { elements, stride: place.stride as usize, after: epilogue.residual_last }))
}

/// The activation of the epilogue.
pub fn activation(activation: &crate::Activation) -> Activation {
    let crate::Activation { kind, low, high } = *activation;
    match kind {
        ActivationKind::Identity if [low, high] == [f32::NEG_INFINITY, f32::INFINITY] => Activation::None,
        ActivationKind::Identity => Activation::Clamp(low, high),
        ActivationKind::Hardswish => Activation::HardSwish,
        ActivationKind::Hardsigmoid => Activation::HardSigmoid,
        ActivationKind::Silu => Activation::Silu,
        ActivationKind::Gelu => Activation::Gelu,
        ActivationKind::GeluTanh => Activation::GeluTanh,
        ActivationKind::Sigmoid => Activation::Sigmoid,
    }
}

/// The int8 clamp limits.
pub fn byte_limits(limits: &crate::Activation, numbers: &QParams) -> [i8; 2] {
    [limits.low, limits.high].map(|limit| {
        let steps = (limit / numbers.scale).clamp(-1024.0, 1024.0);
        // Adding 1.5 * 2^23 rounds to the nearest integer, ties to even.
        let rounded = (steps + 12_582_912.0) - 12_582_912.0;
        (rounded as i32).saturating_add(numbers.zero_point).clamp(-128, 127) as i8
    })
}

/// The zero point as int8.
pub fn byte(number: i32) -> Result<i8> {
    i8::try_from(number).map_err(|_| Error::InvalidProgram)
}
