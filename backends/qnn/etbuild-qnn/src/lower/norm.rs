//! Softmax and norms over the last dimension.

use et_qnn::ScaleOffset;
use et_qnn::build::{DataType, Quantization};
use etbuild_backend::{Call, Refusal, RefusalKind};
use etbuild_ir::ValueId;

use crate::builder::{Builder, Form, Order};
use crate::encoding::{Affine, Encoding};
use crate::program::{Parameter, TensorId};

use super::Done;

/// Softmax along the last dimension.
pub fn softmax(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    let rank = call.sizes(input).len();
    if rank == 0 || call.dim(1, rank)? + 1 != rank {
        return Err(Refusal::new(RefusalKind::Argument, "softmax runs along the last dimension only"));
    }
    builder.map("Softmax", vec![("axis", Parameter::Uint32(rank as u32 - 1))], [input, output], Order::RowMajor)
}

/// Layer norm over the last dimension.
pub fn layer_norm(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let epsilon = call.number(4)?.unwrap_or(1e-5);
    norm(builder, &call, "LayerNorm", epsilon, call.optional_value(3)?)
}

/// RMS norm over the last dimension.
pub fn rms_norm(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let epsilon = call.number(3)?.unwrap_or(f64::from(f32::EPSILON));
    norm(builder, &call, "RmsNorm", epsilon, None)
}

fn norm(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    type_name: &'static str,
    epsilon: f64,
    beta: Option<ValueId>,
) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    if call.ints(1)?.len() != 1 {
        return Err(Refusal::new(RefusalKind::Argument, "the norm covers more than the last dimension"));
    }
    let sizes = call.sizes(input);
    let (rank, width) = (sizes.len() as u32, sizes.last().copied().unwrap_or(1));
    let encoding = builder.encoding(&[input], output)?;
    let operand = builder.take(input, encoding, Order::RowMajor)?;
    let numbers = |id: Option<ValueId>, absent: f32| match id {
        None => Ok(vec![absent; width]),
        Some(id) => builder.floats(id),
    };
    let (gamma, beta) = (numbers(call.optional_value(2)?, 1.0)?, numbers(beta, 0.0)?);
    let gamma = gain(builder, encoding, &gamma);
    let beta = offset(builder, encoding, &beta);
    let axes = ("axes", Parameter::Integers(vec![1], vec![rank - 1]));
    let parameters = vec![axes, ("epsilon", Parameter::Float32(epsilon as f32))];
    let form = Form { encoding, order: Order::RowMajor };
    builder.compute(type_name, parameters, vec![operand, gamma, beta], (output, form));
    Ok(())
}

/// The gains of a norm.
fn gain(builder: &mut Builder<'_>, computes: Encoding, numbers: &[f32]) -> TensorId {
    let encoding = match computes {
        Encoding::Integer(Affine { data_type: DataType::Uint16, .. }) => {
            Encoding::Integer(Affine::symmetric(DataType::Uint16, magnitude(numbers)))
        }
        Encoding::Integer(affine) => Encoding::Integer(Affine::of_numbers(affine.data_type, numbers)),
        other => other,
    };
    builder.numbers("gain", encoding, vec![numbers.len() as u32], numbers)
}

/// The offsets of a norm: int32 beside integers.
fn offset(builder: &mut Builder<'_>, computes: Encoding, numbers: &[f32]) -> TensorId {
    let sizes = vec![numbers.len() as u32];
    let Encoding::Integer(_) = computes else { return builder.numbers("offset", computes, sizes, numbers) };
    let scale = (magnitude(numbers) / (1 << 24) as f32).max(f32::EPSILON);
    let data = || numbers.iter().flat_map(|number| ((number / scale).round() as i32).to_le_bytes()).collect();
    let quantization = Quantization::Tensor(ScaleOffset { scale, offset: 0 });
    builder.constant("offset", (DataType::Fixed32, quantization), sizes, data)
}

/// The largest magnitude.
fn magnitude(numbers: &[f32]) -> f32 {
    numbers.iter().fold(0.0, |most, number| number.abs().max(most))
}
