//! Convolutions and linear layers with constant weights.

use et_core::ScalarType;
use et_cpu::{Activation, Conv2d, Depthwise, Epilogue, Place, QParams, Rows, SlotNumber, Window, Write};
use etbuild_ir::ValueId;

use crate::builder::{Builder, place, rows, slot};
use crate::call::Call;
use crate::lower::{Lowered, dynamic, quantized};
use crate::pack::{self, Form, Packing};
use crate::tensor::{Buffer, Tensor};
use crate::{Problem, constant};

/// Convolution; a one-dimensional convolution has images of height 1.
pub fn convolution(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let integers = quantized::Operands::of(builder, &call)?;
    let input = match &integers {
        Some(_) => builder.stored(call.value(0)?)?,
        None if is_depthwise_call(&call)? => depthwise_input(builder, call.value(0)?)?,
        None => builder.tensor(call.value(0)?)?,
    };
    let input = image(&input)?;
    let sizes = call.output_sizes()?;
    let output = builder.image(ScalarType::Float, &image_sizes(&sizes)?);
    let window = window(&call, &input, &output)?;
    let is_planar = integers.is_none() && reads_planes(&input, &window);
    let window = Window { is_planar, ..window };
    let input = if is_planar { input } else { builder.in_channels_last(input) };
    match integers {
        Some(integers) => {
            let read = pixels(&input, window.input[2]);
            quantized::gemm(builder, &integers, (read, input.qparams), &output, window)?;
        }
        None if is_depthwise(&window) => depthwise(builder, &call, &input, &output, window)?,
        None => {
            let stride = if is_planar { 1 } else { window.input[2] };
            gemm(builder, &call, pixels(&input, stride), &output, window)?;
        }
    }
    let output = output.viewed(&sizes).ok_or(Problem::Arguments)?;
    Ok(Some(output))
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
pub fn is_depthwise_call(call: &Call<'_>) -> Result<bool, Problem> {
    if call.node.operator.name() != "convolution" {
        return Ok(false);
    }
    let channels = |id: ValueId| call.sizes(id).get(1).map(|size| *size as u32).ok_or(Problem::Arguments);
    let groups = call.int(8)?.map_or(1, |groups| groups as u32);
    let shape = |channels| [1, 1, channels];
    let (input, output) = (shape(channels(call.value(0)?)?), shape(channels(call.output()?)?));
    Ok(is_depthwise(&Window { input, output, groups, ..Window::default() }))
}

/// A convolution without operands, and with an empty epilogue.
pub fn conv2d(window: Window) -> Conv2d {
    let activation = Activation::clamp(f32::NEG_INFINITY, f32::INFINITY);
    let epilogue = Epilogue { residual: Rows::ABSENT, activation, ..Epilogue::default() };
    Conv2d { row_scales: Place::ABSENT, channel_scales: Place::ABSENT, window, epilogue, ..Conv2d::default() }
}

fn gemm(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    input: Rows,
    output: &Tensor,
    window: Window,
) -> Result<(), Problem> {
    let bias = call.optional_value(2)?.map_or(Ok(Vec::new()), |id| floats(builder, id))?;
    let id = call.value(1)?;
    let weights = constant::row_major(builder.links, id).ok_or(Problem::Weights)?;
    let adapter = constant::name_in_adapter(builder.links, id);
    let weights = builder.program.packed(Packing { window, weights, form: Form::Floats(bias), adapter })?;
    let output = Write(pixels(output, window.output[2]));
    builder.emit(Conv2d { input, weights, output, ..conv2d(window) });
    Ok(())
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
    let weights = builder.program.constant(little_endian(&pack::depthwise(&values, &window)?));
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

/// f32 numbers as little-endian bytes.
pub fn little_endian(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// `input x weight^T + bias` over the last dimension.
pub fn linear(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let integers = match builder.quantized_rows(call.value(0)?) {
        Some(_) => None,
        None => quantized::Operands::of(builder, &call)?,
    };
    let dynamic = if integers.is_none() { dynamic::linear(builder, &call)? } else { None };
    if dynamic.is_some() {
        return Ok(dynamic);
    }
    let input = match &integers {
        Some(_) => builder.stored(call.value(0)?)?,
        None => builder.tensor(call.value(0)?)?,
    };
    let input = match rows(&input) {
        Some(_) => input,
        None => builder.in_row_major(input),
    };
    let (left, count, inner) = rows(&input).ok_or(Problem::Arguments)?;
    let output = builder.row_major(ScalarType::Float, &call.output_sizes()?);
    let columns = output.sizes.last().copied().ok_or(Problem::Arguments)?;
    let window = matrix_window(count, inner, columns);
    match integers {
        Some(integers) => quantized::gemm(builder, &integers, (left, input.qparams), &output, window)?,
        None => gemm(builder, &call, left, &output, window)?,
    }
    Ok(Some(output))
}

/// A GEMM as a 1x1 convolution of an image of height 1.
pub fn matrix_window(rows: usize, inner: usize, columns: usize) -> Window {
    Window {
        batch: 1,
        input: [1, rows as u32, inner as u32],
        output: [1, rows as u32, columns as u32],
        kernel: [1, 1],
        stride: [1, 1],
        padding: [0, 0],
        dilation: [1, 1],
        groups: 1,
        is_planar: false,
    }
}

/// The pixel rows of a contiguous NHWC tensor; an NCHW image is a single row.
pub fn pixels(tensor: &Tensor, channels: u32) -> Rows {
    Rows { place: place(tensor), stride: channels }
}

/// A tensor of rank 3 or 4 as NHWC images.
fn image(tensor: &Tensor) -> Result<Tensor, Problem> {
    let sizes = image_sizes(&tensor.sizes)?;
    tensor.viewed(&sizes).ok_or(Problem::Arguments)
}

fn image_sizes(sizes: &[usize]) -> Result<[usize; 4], Problem> {
    match *sizes {
        [batch, channels, width] => Ok([batch, channels, 1, width]),
        [batch, channels, height, width] => Ok([batch, channels, height, width]),
        _ => Err(Problem::Arguments),
    }
}

/// The window of a convolution's arguments.
fn window(call: &Call<'_>, input: &Tensor, output: &Tensor) -> Result<Window, Problem> {
    let weight = image_sizes(&call.sizes(call.value(1)?))?;
    let spatial = call.output_sizes()?.len() - 2;
    let shape = |tensor: &Tensor| [tensor.sizes[2] as u32, tensor.sizes[3] as u32, tensor.sizes[1] as u32];
    Ok(Window {
        batch: input.sizes[0] as u32,
        input: shape(input),
        output: shape(output),
        kernel: [weight[2] as u32, weight[3] as u32],
        stride: pair(call.ints(3)?, spatial, 1)?,
        padding: pair(call.ints(4)?, spatial, 0)?,
        dilation: pair(call.ints(5)?, spatial, 1)?,
        groups: call.int(8)?.and_then(|groups| u32::try_from(groups).ok()).ok_or(Problem::Arguments)?,
        is_planar: false,
    })
}

/// Vertical and horizontal numbers; one-dimensional convolutions have the horizontal number only.
pub fn pair(numbers: &[i64], spatial: usize, absent: u32) -> Result<[u32; 2], Problem> {
    let number = |number: i64| u32::try_from(number).map_err(|_| Problem::Arguments);
    match (numbers, spatial) {
        ([], _) => Ok([absent; 2]),
        ([one], 1) => Ok([absent, number(*one)?]),
        ([one], _) => Ok([number(*one)?; 2]),
        ([rows, columns], _) => Ok([number(*rows)?, number(*columns)?]),
        _ => Err(Problem::Arguments),
    }
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
    Ok(pack::floats(data.bytes()))
}
