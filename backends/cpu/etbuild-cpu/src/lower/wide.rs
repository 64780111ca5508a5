//! Weight-only quantization: linear layers with f32 rows and integer weights.

use et_core::ScalarType;
use et_cpu::{Activation, Groups, WideProduct};

use crate::Problem;
use crate::builder::{Builder, place};
use crate::call::Call;
use crate::constant;
use crate::lower::product::{floats, matrix_window, pixels};
use crate::pack::{Form, Packing};
use crate::tensor::Tensor;

/// A linear layer with int8 or int4 weights; false for other linear layers.
pub fn linear(builder: &mut Builder<'_>, call: &Call<'_>, input: &Tensor) -> Result<bool, Problem> {
    let (weights, links) = (call.value(1)?, builder.links);
    let bias = call.optional_value(2)?.map_or(Ok(Vec::new()), |id| floats(builder, id))?;
    let (weights, groups, form) = if let Some(weights) = constant::byte_weights(links, weights) {
        (weights.bytes, Groups::NONE, Form::BytesForRows(weights.scales, bias))
    } else if let Some(weights) = constant::grouped_weights(links, weights) {
        let form = weights.form(!bias.is_empty());
        (weights.bytes, Groups::of(form), Form::Groups(form, weights.scales, bias))
    } else {
        return Ok(false);
    };
    let input = builder.in_row_major(input.clone());
    let output = builder.row_major(ScalarType::Float, &call.output_sizes()?);
    let (Some(inner), Some(columns)) = (input.sizes.last().copied(), output.sizes.last().copied()) else {
        return Err(Problem::Arguments);
    };
    let rows = input.numel().checked_div(inner).ok_or(Problem::Arguments)?;
    let window = matrix_window(rows, inner, columns);
    let weights = builder.packed(Packing { window, weights, form, adapter: None })?;
    let product = WideProduct {
        input: place(&input),
        output: pixels(&output, columns as u32),
        weights,
        sizes: [rows, inner, columns].map(|size| size as u32),
        groups,
        activation: Activation::clamp(f32::NEG_INFINITY, f32::INFINITY),
    };
    builder.make(output.buffer, product);
    builder.set(call.output()?, output);
    Ok(true)
}
