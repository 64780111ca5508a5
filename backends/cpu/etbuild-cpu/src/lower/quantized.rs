//! Static quantization: quantize and dequantize operators, int8 convolution and int8 GEMM.

use et_cpu::{Conv2d, QParams, Rows, Window, Write};

use crate::Problem;
use crate::builder::Builder;
use crate::call::Call;
use crate::constant::{self, ByteWeights};
use crate::lower::Lowered;
use crate::lower::conv2d::{conv2d, floats, is_depthwise_call, pixels};
use crate::pack::{Form, Packing};
use crate::tensor::Tensor;

/// Quantization: no instruction where the tensor is int8 with the same qparams.
pub fn quantize(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let (input, qparams) = (builder.stored(call.value(0)?)?, qparams(&call)?);
    let quantized = if input.qparams == qparams { input } else { builder.converted(&input, qparams)? };
    Ok(Some(Tensor { qparams: QParams::FLOAT, ..quantized }))
}

/// Dequantization: the tensor stays int8 until a consumer needs f32. Constants are dequantized by consumers.
pub fn dequantize(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    if constant::dequantizes_constants(builder.links, call.node) {
        return Ok(None);
    }
    Ok(Some(Tensor { qparams: qparams(&call)?, ..builder.stored(call.value(0)?)? }))
}

/// Quantized weights are packed by the GEMM or convolution that reads the weights.
pub fn dequantize_constant(_: &mut Builder<'_>, _: Call<'_>) -> Lowered {
    Ok(None)
}

/// The per-tensor qparams of `(input, scale, zero_point, ...)`.
fn qparams(call: &Call<'_>) -> Result<QParams, Problem> {
    let scale = call.number(1)?.ok_or(Problem::Arguments)? as f32;
    let zero_point = call.int(2)?.and_then(|point| i32::try_from(point).ok()).ok_or(Problem::Arguments)?;
    Ok(QParams { scale, zero_point })
}

/// The operands of an int8 GEMM or convolution.
pub struct Operands {
    weights: ByteWeights,
    bias: Option<Vec<f32>>,
}

impl Operands {
    /// The weights and bias of an int8 convolution or linear layer, where input tensor and weights are int8.
    pub fn of(builder: &mut Builder<'_>, call: &Call<'_>) -> Result<Option<Self>, Problem> {
        let Some(weights) = constant::byte_weights(builder.links, call.value(1)?) else { return Ok(None) };
        // Only linear layers read dynamically quantized rows. A depthwise convolution is int8 where the output is int8 too.
        let is_computed = builder.stored(call.value(0)?)?.qparams.is_int8() && !is_depthwise_call(call)?;
        let bias = call.optional_value(2)?.map(|id| floats(builder, id)).transpose()?;
        Ok(is_computed.then_some(Self { weights, bias }))
    }
}

/// The int32 bias of a channel in units of the channel's accumulator scale.
pub fn int32_bias(bias: &[f32], scales: &[f32]) -> Vec<i32> {
    let bias = |channel: usize| f64::from(bias.get(channel).copied().unwrap_or(0.0));
    let quantized = |(channel, scale): (usize, &f32)| (bias(channel) / f64::from(*scale)).round_ties_even() as i32;
    scales.iter().enumerate().map(quantized).collect()
}

/// The scales of int32 accumulators, by channel.
pub fn accumulator_scales(weights: &ByteWeights, input: QParams) -> Vec<f32> {
    weights.scales.iter().map(|scale| scale * input.scale).collect()
}

/// An int8 GEMM or convolution with an f32 output.
pub fn gemm(
    builder: &mut Builder<'_>,
    operands: &Operands,
    (input, input_qparams): (Rows, QParams),
    output: &Tensor,
    window: Window,
) -> Result<(), Problem> {
    let scales = accumulator_scales(&operands.weights, input_qparams);
    let form_bias = int32_bias(operands.bias.as_deref().unwrap_or_default(), &scales);
    let (weights, form) = (operands.weights.bytes.clone(), Form::Bytes(scales, form_bias));
    let weights = builder.program.packed(Packing { window, weights, form, adapter: None })?;
    let output = Write(pixels(output, window.output[2]));
    builder.emit(Conv2d { input, input_qparams, weights, output, ..conv2d(window) });
    Ok(())
}
