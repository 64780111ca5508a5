//! Convolutions and linear layers with constant weights: the dtypes of input and weights select the GEMM.

use et_core::ScalarType;
use et_cpu::{Activation, Conv2d, Depthwise, Epilogue, Place, QParams, RowScales, Rows, SlotNumber, Window, Write};
use etbuild_backend::{ByteWeights, Call, image_sizes};
use etbuild_cpu_weights::{Form, Packing};
use etbuild_ir::{ConstantData, ValueId};
use etbuild_weights::reals;

use crate::builder::{Builder, place, rows, slot};
use crate::channels::{self, accumulator_scales, int32_bias};
use crate::lower::{Lowered, window};
use crate::tensor::{Buffer, Tensor};
use crate::{Problem, constant};

/// The input rows of a GEMM: f32, or int8 with qparams.
pub struct Input {
    /// The rows.
    pub rows: Rows,
    /// The per-tensor qparams of int8 rows.
    pub qparams: QParams,
    /// Qparams of rows; absent for other inputs.
    pub row_scales: RowScales,
}

/// Weights, the form that the GEMM reads, and the name of the weights of an adapter.
pub type Unpacked = (ConstantData, Form, Option<String>);

/// Convolution of images; a one-dimensional convolution has images of height 1.
pub fn convolution(builder: &mut Builder<'_>, call: &Call<'_>) -> Lowered {
    let int8 = int8_weights(builder, call)?;
    let input = match &int8 {
        Some(_) => builder.stored(call.value(0)?)?,
        None if is_depthwise_call(call)? => depthwise_input(builder, call.value(0)?)?,
        None => builder.tensor(call.value(0)?)?,
    };
    let input = image(&input)?;
    let sizes = call.output_sizes()?;
    let output = builder.image(ScalarType::Float, &image_sizes(&sizes)?);
    let groups = call.int(8)?.and_then(|groups| u32::try_from(groups).ok()).ok_or(Problem::Arguments)?;
    let window = window(&input, &output, call.convolution()?, groups);
    let is_planar = int8.is_none() && reads_planes(&input, &window);
    let window = Window { is_planar, ..window };
    let input = if is_planar { input } else { builder.in_channels_last(input) };
    if int8.is_none() && is_depthwise(&window) {
        depthwise(builder, call, &input, &output, window)?;
    } else {
        let weights = match int8 {
            Some(int8) => static_int8(builder, call, int8, input.qparams)?,
            None => floating(builder, call.value(1)?, bias_of(builder, call, 2)?)?,
        };
        let rows = pixels(&input, if is_planar { 1 } else { window.input[2] });
        gemm(builder, Input { rows, qparams: input.qparams, row_scales: RowScales::ABSENT }, weights, &output, window)?;
    }
    let output = output.viewed(&sizes).ok_or(Problem::Arguments)?;
    Ok(Some(output))
}

/// `input x weight^T + bias` over the last dimension.
pub fn linear(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    linear_with(builder, call, None)
}

/// A linear layer, of whose blockwise weights each block has an offset too.
pub fn linear_with(builder: &mut Builder<'_>, call: Call<'_>, offsets: Option<ConstantData>) -> Lowered {
    let id = call.value(0)?;
    let quantized_rows = builder.quantized_rows(id).cloned();
    // The GEMM of static int8 has no offsets.
    let is_static = quantized_rows.is_none() && offsets.is_none();
    let int8 = if is_static { int8_weights(builder, &call)? } else { None };
    let (input, weights) = if let Some(int8) = int8 {
        let input = builder.stored(id)?;
        let weights = static_int8(builder, &call, int8, input.qparams)?;
        (input, weights)
    } else {
        let weights = weights_of_rows(builder, call.value(1)?, bias_of(builder, &call, 2)?, offsets)?;
        let input = match multiplied(&weights.1, quantized_rows) {
            Some(rows) => rows,
            None if matches!(weights.1, Form::Floats(_)) => builder.tensor(id)?,
            None => builder.dense(id)?,
        };
        (input, weights)
    };
    let input = if rows(&input).is_some() { input } else { builder.in_row_major(input) };
    let (left, count, inner) = rows(&input).ok_or(Problem::Arguments)?;
    let output = builder.row_major(ScalarType::Float, &call.output_sizes()?);
    let columns = output.sizes.last().copied().ok_or(Problem::Arguments)?;
    let row_scales = input.row_scales.unwrap_or(RowScales::ABSENT);
    let qparams = if input.row_scales.is_some() { QParams::FLOAT } else { input.qparams };
    let input = Input { rows: left, qparams, row_scales };
    gemm(builder, input, weights, &output, Window::matrix(count, inner, columns))?;
    Ok(Some(output))
}

/// Packs the weights and emits the GEMM, with an empty epilogue.
pub fn gemm(
    builder: &mut Builder<'_>,
    Input { rows: input, qparams: input_qparams, row_scales }: Input,
    (weights, form, adapter): Unpacked,
    output: &Tensor,
    window: Window,
) -> Result<(), Problem> {
    let weights = builder.program.packed(Packing { window, weights, form, adapter })?;
    let activation = Activation::clamp(f32::NEG_INFINITY, f32::INFINITY);
    builder.emit(Conv2d {
        input,
        input_qparams,
        row_scales,
        channel_scales: Place::ABSENT,
        weights,
        output: Write(pixels(output, window.output[2])),
        output_qparams: QParams::FLOAT,
        window,
        epilogue: Epilogue { residual: Rows::ABSENT, activation, ..Epilogue::default() },
    });
    Ok(())
}

/// The int8 weights of a call whose input tensor is int8 too. A depthwise convolution is int8 where the output is int8 too.
fn int8_weights(builder: &mut Builder<'_>, call: &Call<'_>) -> Result<Option<ByteWeights>, Problem> {
    let weights = constant::byte_weights(builder.links, call.value(1)?);
    let is_int8 = weights.is_some() && builder.stored(call.value(0)?)?.qparams.is_int8() && !is_depthwise_call(call)?;
    Ok(weights.filter(|_| is_int8))
}

/// int8 weights for an int8 input.
fn static_int8(
    builder: &Builder<'_>,
    call: &Call<'_>,
    weights: ByteWeights,
    input: QParams,
) -> Result<Unpacked, Problem> {
    let scales = accumulator_scales(&weights, input);
    let bias = int32_bias(&bias_of(builder, call, 2)?, &scales);
    Ok((weights.bytes, Form::Bytes(scales, bias), None))
}

/// The dynamically quantized rows, where a GEMM multiplies them by weights of a form.
pub fn multiplied(form: &Form, rows: Option<Tensor>) -> Option<Tensor> {
    let blocks = |rows: &Tensor| rows.row_scales.map_or(1, |scales| scales.blocks as usize);
    rows.filter(|rows| form.multiplies_rows(rows.rows_and_columns()[1], blocks(rows)))
}

/// Weights for rows: int8, int6 or int4 for dynamically quantized rows or f32 rows, or 16-bit or f32 for f32 rows.
pub fn weights_of_rows(
    builder: &Builder<'_>,
    id: ValueId,
    bias: Vec<f32>,
    offsets: Option<ConstantData>,
) -> Result<Unpacked, Problem> {
    if let Some(weights) = constant::byte_weights(builder.links, id).filter(|_| offsets.is_none()) {
        return Ok((weights.bytes, Form::BytesForRows(weights.scales, bias), None));
    }
    if let Some(weights) = constant::grouped_weights(builder.links, id) {
        let (bytes, groups) = weights.packed(offsets, bias).ok_or(Problem::Weights)?;
        return Ok((bytes, Form::Groups(groups), None));
    }
    let (weights, form, adapter) = floating(builder, id, bias)?;
    let form = form.narrowed(&weights, adapter.as_deref());
    Ok((weights, form, adapter))
}

/// f32 weights.
fn floating(builder: &Builder<'_>, id: ValueId, bias: Vec<f32>) -> Result<Unpacked, Problem> {
    let weights = constant::row_major(builder.links, id).ok_or(Problem::Weights)?;
    Ok((weights, Form::Floats(bias), constant::name_in_adapter(builder.links, id)))
}

/// The bias at a position of a call's arguments; empty without a bias.
pub fn bias_of(builder: &Builder<'_>, call: &Call<'_>, index: usize) -> Result<Vec<f32>, Problem> {
    call.optional_value(index)?.map_or(Ok(Vec::new()), |id| floats(builder, id))
}

/// The maximum channels of an NCHW input: an RGBA picture.
const MOST_PLANES: u32 = 4;

/// Whether a convolution reads an NCHW image as fast as an NHWC image: the pixels of a channel are neighbours, and
/// micro-kernels exist for such windows.
fn reads_planes(input: &Tensor, window: &Window) -> bool {
    let few = (2..=MOST_PLANES).contains(&window.input[2]) && window.groups == 1;
    let close = window.stride[1] <= 2 && window.dilation[1] == 1 && window.kernel[1] > 1;
    few && close && input.is_row_major() && !input.is_channels_last()
}

/// Whether a convolution is depthwise.
const fn is_depthwise(window: &Window) -> bool {
    window.groups > 1 && window.groups == window.input[2] && window.groups == window.output[2]
}

/// The f32 input of a depthwise convolution. An int8 tensor is copied to NHWC before it is dequantized, so that dequantization can become
/// a part of the int8 kernel.
fn depthwise_input(builder: &mut Builder<'_>, id: ValueId) -> Result<Tensor, Problem> {
    let stored = image(&builder.stored(id)?)?;
    if !stored.qparams.is_int8() || stored.is_channels_last() {
        return builder.tensor(id);
    }
    let nhwc = builder.in_channels_last(stored);
    builder.converted(&nhwc, QParams::FLOAT)
}

/// Whether a call is a depthwise convolution.
fn is_depthwise_call(call: &Call<'_>) -> Result<bool, Problem> {
    if call.node.operator.name() != "convolution" {
        return Ok(false);
    }
    let channels = |id: ValueId| call.sizes(id).get(1).map(|size| *size as u32).ok_or(Problem::Arguments);
    let groups = call.int(8)?.map_or(1, |groups| groups as u32);
    let shape = |channels| [1, 1, channels];
    let (input, output) = (shape(channels(call.value(0)?)?), shape(channels(call.output()?)?));
    Ok(is_depthwise(&Window { input, output, groups, ..Window::default() }))
}

/// An f32 depthwise convolution. The program keeps int8 weights too: fusion with quantization reads these.
fn depthwise(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    input: &Tensor,
    output: &Tensor,
    window: Window,
) -> Result<(), Problem> {
    let values = floats(builder, call.value(1)?)?;
    let weights = builder.program.constant(channels::depthwise(&reals::stored(&values), size_of::<f32>(), &window)?);
    if let Some(int8) = constant::byte_weights(builder.links, call.value(1)?) {
        builder.program.int8_weights.insert(Buffer(weights.0), int8);
    }
    let depthwise = Depthwise {
        input: place(input),
        input_qparams: QParams::FLOAT,
        output: Write(place(output)),
        output_qparams: QParams::FLOAT,
        weights,
        bias: bias(builder, call.optional_value(2)?, window.output[2])?,
        scales: SlotNumber::NONE,
        window,
        activation: Activation::clamp(f32::NEG_INFINITY, f32::INFINITY),
    };
    builder.emit(depthwise);
    Ok(())
}

/// The pixel rows of a contiguous NHWC tensor; an NCHW image is a single row.
fn pixels(tensor: &Tensor, channels: u32) -> Rows {
    Rows { place: place(tensor), stride: channels }
}

/// A tensor of rank 3 or 4 as NHWC images.
fn image(tensor: &Tensor) -> Result<Tensor, Problem> {
    let sizes = image_sizes(&tensor.sizes)?;
    tensor.viewed(&sizes).ok_or(Problem::Arguments)
}

/// The slot of the per-channel bias.
fn bias(builder: &mut Builder<'_>, id: Option<ValueId>, channels: u32) -> Result<SlotNumber, Problem> {
    Ok(match id {
        Some(id) => slot(&builder.tensor(id)?),
        None => builder.program.constant(vec![0; channels as usize * size_of::<f32>()]),
    })
}

/// The elements of a constant in row-major order.
pub fn floats(builder: &Builder<'_>, id: ValueId) -> Result<Vec<f32>, Problem> {
    let data = constant::row_major(builder.links, id).ok_or(Problem::Weights)?;
    Ok(reals::floats(data.bytes()))
}
