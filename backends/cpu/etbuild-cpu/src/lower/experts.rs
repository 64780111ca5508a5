//! Linear layers of which each row chooses some: the experts of a mixture.

use et_core::ScalarType;
use et_cpu::{Activation, Conv2d, Epilogue, ExpertGemm, Place, QParams, RowScales, Rows, Window, Write};
use etbuild_backend::{Call, RefusalKind, is_known};
use etbuild_cpu_weights::{Form, Packing};
use etbuild_ir::{ConstantData, ValueId};

use crate::builder::{Builder, place};
use crate::capability::{Checked, ensure};
use crate::lower::Lowered;
use crate::lower::conv2d::{bias_of, multiplied, weights_of_rows};
use crate::tensor::FLOAT;
use crate::{Problem, constant};

/// Checks `expert_linear(input, experts, weights, biases, offsets)`: constant weights, biases and offsets, experts in int64.
pub fn check(call: &Call<'_>) -> Checked {
    let scalar_type = |id: ValueId| call.graph.spec(id).scalar_type;
    let (layers, biases) = (call.values(2)?, call.optional_value(3)?);
    let are_known = layers.iter().chain(&biases).all(|id| is_known(call.links, *id));
    ensure(are_known, RefusalKind::Constant, "its weights are computed")?;
    let floats = [call.value(0)?]
        .into_iter()
        .chain(layers.iter().copied())
        .chain(biases)
        .chain(call.node.outputs.first().copied());
    let are_floats = floats.into_iter().all(|id| scalar_type(id) == FLOAT);
    ensure(are_floats, RefusalKind::Type, "it computes in float32")?;
    let is_number = scalar_type(call.value(1)?) == ScalarType::Long;
    ensure(is_number, RefusalKind::Type, "its experts are not int64")?;
    let Some(offsets) = call.optional_value(4)? else { return Ok(()) };
    let has_blocks = |blocks: usize| {
        let grouped = |id: &ValueId| constant::grouped_weights(call.links, *id).is_some_and(|all| all.count == blocks);
        call.links.graph.constant(offsets).is_some() && layers.iter().all(grouped)
    };
    let spec = call.graph.spec(offsets);
    let blocks = spec.sizes.get(1).and_then(|blocks| usize::try_from(*blocks).ok());
    let fits = spec.scalar_type == FLOAT && spec.is_contiguous() && blocks.is_some_and(has_blocks);
    ensure(fits, RefusalKind::Constant, "its offsets are not those of blockwise weights")
}

/// The product of each row with the weights of the experts that the row chooses.
pub fn lower(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let layers = call.values(2)?;
    let [tokens, chosen, columns] = call.output_sizes()?[..] else { return Err(Problem::Arguments) };
    let id = call.value(0)?;
    let [_, vectors, inner] = call.sizes(id)[..] else { return Err(Problem::Arguments) };
    let rows = builder.quantized_rows(id).cloned();
    let weights = packings(builder, &call, &layers, [inner, columns])?;
    let input = match weights.first().and_then(|packing| multiplied(&packing.form, rows)) {
        Some(rows) => rows,
        None => builder.dense(id)?,
    };
    let weights = builder.program.stacked(weights)?;
    let experts = builder.dense(call.value(1)?)?;
    let order = builder.row_major(ScalarType::Int, &[ExpertGemm::order(tokens * chosen, layers.len())]);
    let output = builder.row_major(FLOAT, &[tokens, chosen, columns]);
    let rows = |tensor, stride: usize| Rows { place: place(tensor), stride: stride as u32 };
    let activation = Activation::clamp(f32::NEG_INFINITY, f32::INFINITY);
    let gemm = Conv2d {
        input: rows(&input, inner),
        input_qparams: QParams::FLOAT,
        row_scales: input.row_scales.unwrap_or(RowScales::ABSENT),
        channel_scales: Place::ABSENT,
        weights,
        output: Write(rows(&output, columns)),
        output_qparams: QParams::FLOAT,
        window: Window::matrix(tokens * chosen, inner, columns),
        epilogue: Epilogue { residual: Rows::ABSENT, activation, ..Epilogue::default() },
    };
    builder.emit(ExpertGemm {
        gemm,
        experts: place(&experts),
        count: layers.len() as u32,
        chosen: chosen as u32,
        is_shared: vectors == 1,
        order: Write(place(&order)),
    });
    Ok(Some(output))
}

/// The weights of each expert, all in one packed format.
fn packings(
    builder: &Builder<'_>,
    call: &Call<'_>,
    layers: &[ValueId],
    [inner, columns]: [usize; 2],
) -> Result<Vec<Packing>, Problem> {
    let (biases, window) = (bias_of(builder, call, 3)?, Window::matrix(1, inner, columns));
    let offsets = call.optional_value(4)?.map(|id| builder.links.graph.constant(id).ok_or(Problem::Weights));
    let offsets = offsets.transpose()?;
    let of_layer = |layer: usize, all: &ConstantData| {
        let size = all.bytes().len() / layers.len().max(1);
        all.part(layer * size, size).ok_or(Problem::Weights)
    };
    let mut packings = Vec::with_capacity(layers.len());
    for (layer, id) in layers.iter().enumerate() {
        let bias = biases.get(layer * columns..(layer + 1) * columns).unwrap_or_default().to_vec();
        let offsets = offsets.map(|all| of_layer(layer, all)).transpose()?;
        let (weights, form, adapter) = weights_of_rows(builder, *id, bias, offsets)?;
        packings.push(Packing { window, weights, form, adapter });
    }
    Form::unify(packings.iter_mut().map(|packing| &mut packing.form)).ok_or(Problem::Weights)?;
    Ok(packings)
}
