//! Operators of recurrent language models: linear attention, selective state spaces, and short convolutions.

use et_core::ScalarType;
use et_cpu::{ConvCache, Recurrence, Write};
use etbuild_backend::{Call, RefusalKind, floats};
use etbuild_ir::ValueId;

use crate::Problem;
use crate::builder::{Builder, place};
use crate::capability::{Checked, ensure};
use crate::lower::{Lowered, text};
use crate::tensor::{FLOAT, Tensor};

/// The positions of the arguments of an operator that only one of the recurrences has, or that each has elsewhere.
struct Positions {
    steps: usize,
    shares: Option<usize>,
    rates: usize,
    keys: usize,
    biases: usize,
    skips: Option<usize>,
    state: usize,
}

/// `(values, keys, queries, steps, shares, rates, biases, state, start, last)`.
const DELTA: Positions = Positions { steps: 3, shares: Some(4), rates: 5, keys: 1, biases: 6, skips: None, state: 7 };

/// `(input, steps, rates, keys, queries, state, start, last, biases, skips)`.
const SCAN: Positions = Positions { steps: 1, shares: None, rates: 2, keys: 3, biases: 8, skips: Some(9), state: 5 };

/// Checks the gated delta rule and selective scans: all tensors but the positions are f32.
pub fn check(call: &Call<'_>) -> Checked {
    let mut ids = call.node.uses().chain(call.node.outputs.iter().copied());
    let is_known = |id: ValueId| {
        let spec = call.graph.spec(id);
        spec.scalar_type == FLOAT || (spec.scalar_type == ScalarType::Long && spec.numel() == 1)
    };
    ensure(ids.all(is_known), RefusalKind::Type, "it computes in float32")
}

/// Checks a short convolution: the weights are constant.
pub fn conv_cache_check(call: &Call<'_>) -> Checked {
    let is_constant = floats(call.links, call.value(2)?).is_some();
    ensure(is_constant, RefusalKind::Constant, "its weights are computed")?;
    check(call)
}

/// The gated delta rule.
pub fn gated_delta(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    recurrence(builder, &call, &DELTA)
}

/// A selective scan.
pub fn selective_scan(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    recurrence(builder, &call, &SCAN)
}

fn recurrence(builder: &mut Builder<'_>, call: &Call<'_>, positions: &Positions) -> Lowered {
    let mut dense = |position: usize| builder.dense(call.value(position)?);
    let (values, keys, queries) = (dense(0)?, dense(positions.keys)?, dense(positions.keys + 1)?);
    let (steps, rates, state) = (dense(positions.steps)?, dense(positions.rates)?, dense(positions.state)?);
    let ([_, rows, heads, depth], [_, _, groups, width]) = (&values.sizes[..], &keys.sizes[..]) else {
        return Err(Problem::Arguments);
    };
    let shares = builder.optional(positions.shares.map(|position| call.value(position)).transpose()?)?;
    let biases = builder.optional(call.optional_value(positions.biases)?)?;
    let skips = positions.skips.map(|position| call.optional_value(position)).transpose()?.flatten();
    let skips = builder.optional(skips)?;
    let output = builder.row_major(FLOAT, &values.sizes);
    let behind = builder.row_major(FLOAT, &state.sizes);
    let recurrence = Recurrence {
        values: place(&values),
        keys: place(&keys),
        queries: place(&queries),
        steps: place(&steps),
        shares,
        rates: place(&rates),
        biases,
        skips,
        before: place(&state),
        behind: Write(place(&behind)),
        output: Write(place(&output)),
        piece: text::piece(builder, call, positions.state + 1)?,
        sizes: [*rows, *heads, *groups, *depth, *width].map(|size| size as u32),
        rates_of_head: (rates.numel() / (*heads).max(1)) as u32,
    };
    builder.emit(recurrence);
    builder.set(call.node.outputs.get(1).copied().ok_or(Problem::Arguments)?, behind);
    Ok(Some(output))
}

/// A short convolution: `(rows, cache, weight, bias, start, last)`.
pub fn conv_cache(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let (rows, cache) = (builder.dense(call.value(0)?)?, builder.dense(call.value(1)?)?);
    let ([_, count, channels], [_, slots, ..]) = (&rows.sizes[..], &cache.sizes[..]) else {
        return Err(Problem::Arguments);
    };
    let (weights, length) = by_position(builder, call.value(2)?, *channels)?;
    let output = builder.row_major(FLOAT, &rows.sizes);
    let bias = call.optional_value(3)?;
    let convolution = ConvCache {
        rows: place(&rows),
        cache: place(&cache),
        weights: place(&weights),
        bias: builder.optional(bias)?,
        output: Write(place(&output)),
        piece: text::piece(builder, &call, 4)?,
        sizes: [*count, *channels, length, *slots].map(|size| size as u32),
    };
    builder.emit(convolution);
    Ok(Some(output))
}

/// The weights `[length, channels]` of weights `[channels, length]`, and the kernel length.
fn by_position(builder: &mut Builder<'_>, weight: ValueId, channels: usize) -> Result<(Tensor, usize), Problem> {
    let numbers = floats(builder.links, weight).ok_or(Problem::Weights)?;
    let length = numbers.len() / channels.max(1);
    if length == 0 || numbers.len() != channels * length {
        return Err(Problem::Weights);
    }
    let turned = (0..length).flat_map(|position| numbers.iter().skip(position).step_by(length)).copied();
    Ok((builder.constant(turned, &[length, channels]), length))
}
