//! Static quantization: quantize and dequantize operators.

use et_cpu::QParams;
use etbuild_backend::{Call, dequantizes_constants};

use crate::Problem;
use crate::builder::Builder;
use crate::lower::Lowered;
use crate::tensor::Tensor;

/// Quantization: no instruction where the tensor is int8 with the same qparams.
pub fn quantize(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let (input, qparams) = (builder.stored(call.value(0)?)?, qparams(&call)?);
    let quantized = if input.qparams == qparams { input } else { builder.converted(&input, qparams)? };
    Ok(Some(Tensor { qparams: QParams::FLOAT, ..quantized }))
}

/// Dequantization: the tensor stays int8 until a consumer needs f32. Constants are dequantized by consumers.
pub fn dequantize(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    if dequantizes_constants(builder.links, call.node) {
        return Ok(None);
    }
    Ok(Some(Tensor { qparams: qparams(&call)?, ..builder.stored(call.value(0)?)? }))
}

/// No instruction: consumers lower the node. Quantized weights are packed by the GEMM or convolution that reads the weights, and
/// the kernel that quantizes rows chooses the qparams.
pub fn nothing(_: &mut Builder<'_>, _: Call<'_>) -> Lowered {
    Ok(None)
}

/// The per-tensor qparams of `(input, scale, zero_point, ...)`.
fn qparams(call: &Call<'_>) -> Result<QParams, Problem> {
    let scale = call.number(1)?.ok_or(Problem::Arguments)? as f32;
    let zero_point = call.int(2)?.and_then(|point| i32::try_from(point).ok()).ok_or(Problem::Arguments)?;
    Ok(QParams { scale, zero_point })
}
