//! Transposed convolutions: a GEMM makes the columns of each input pixel, of which an output pixel is a sum.
//!
//! The GEMM has no more multiplications than the convolution, whatever the strides, and few output channels fill its panels with kernel
//! positions. Convolutions of each phase of the stride would multiply panels that are mostly padding, or by zeros.

use et_cpu::QParams;
use et_cpu::{Activation, Col2im, RowScales, Window, Write};
use etbuild_backend::Call;
use etbuild_cpu_weights::Form;
use etbuild_ir::ConstantData;
use etbuild_weights::reals;

use crate::builder::{Builder, place, rows};
use crate::lower::Lowered;
use crate::lower::axes;
use crate::lower::conv2d::{self, Input};
use crate::tensor::{FLOAT, Tensor};
use crate::{Problem, constant};

/// A transposed convolution of one to three spatial dimensions; the weights are `[input channels, channels of a group, kernel...]`.
pub fn convolution(builder: &mut Builder<'_>, call: &Call<'_>) -> Lowered {
    let [depth, height, width] = axes::of_convolution(call)?;
    let groups = call.int(8)?.and_then(|groups| usize::try_from(groups).ok()).ok_or(Problem::Arguments)?;
    let sizes = call.sizes(call.value(1)?);
    let [inner, channels, kernel @ ..] = &sizes[..] else { return Err(Problem::Arguments) };
    let taps: usize = kernel.iter().product();
    let weights = weights(builder, call, Columns { groups, inner: inner / groups.max(1), channels: *channels, taps })?;
    let input = pixels(builder, call, &weights.1)?;
    let (input, count, _) = rows(&input).ok_or(Problem::Arguments)?;
    let columns = builder.row_major(FLOAT, &[count, groups * taps * channels]);
    let window = Window { groups: groups as u32, ..Window::matrix(count, *inner, groups * taps * channels) };
    let input = Input { rows: input, qparams: QParams::FLOAT, row_scales: RowScales::ABSENT };
    conv2d::gemm(builder, input, weights, &columns, window)?;
    let output = image_of_pixels(builder, &call.output_sizes()?);
    let bias = call.optional_value(2)?;
    let sums = Col2im {
        columns: place(&columns),
        bias: builder.optional(bias)?,
        output: Write(place(&output)),
        batch: output.sizes[0] as u32,
        depth,
        height,
        width,
        groups: groups as u32,
        channels: *channels as u32,
        activation: Activation::clamp(f32::NEG_INFINITY, f32::INFINITY),
    };
    builder.emit(sums);
    Ok(Some(output))
}

/// The input with channels as the last dimension, a row for each pixel. Only a GEMM with f32 weights reads rows apart.
fn pixels(builder: &mut Builder<'_>, call: &Call<'_>, form: &Form) -> Result<Tensor, Problem> {
    let input = builder.tensor(call.value(0)?)?;
    let order: Vec<usize> = [0].into_iter().chain(2..input.rank()).chain([1]).collect();
    let pixels = input.permuted(&order);
    let is_read = matches!(form, Form::Floats(_)) && rows(&pixels).is_some();
    Ok(if is_read { pixels } else { builder.in_row_major(pixels) })
}

/// A new tensor `[batch, channels, ...]` whose channels are innermost in memory.
fn image_of_pixels(builder: &mut Builder<'_>, sizes: &[usize]) -> Tensor {
    let order: Vec<usize> = [0].into_iter().chain(2..sizes.len()).chain([1]).collect();
    builder.scratch(FLOAT, sizes, &order)
}

/// The sizes of the weights of a group.
struct Columns {
    groups: usize,
    inner: usize,
    channels: usize,
    taps: usize,
}

/// The weights of the GEMM: a row for each column of a pixel, `[groups, kernel positions, channels, input channels of a group]`.
fn weights(builder: &Builder<'_>, call: &Call<'_>, columns: Columns) -> Result<conv2d::Unpacked, Problem> {
    let Columns { groups, inner, channels, taps } = columns;
    let stored = constant::row_major(builder.links, call.value(1)?).ok_or(Problem::Weights)?;
    let stored = reals::floats(stored.bytes());
    let mut turned = Vec::with_capacity(stored.len());
    for (group, tap, channel) in (0..groups)
        .flat_map(|group| (0..taps).map(move |tap| (group, tap)))
        .flat_map(|(group, tap)| (0..channels).map(move |channel| (group, tap, channel)))
    {
        let of = |row: usize| stored.get(((group * inner + row) * channels + channel) * taps + tap).copied();
        for row in 0..inner {
            turned.push(of(row).ok_or(Problem::Weights)?);
        }
    }
    let data = ConstantData::new(reals::stored(&turned));
    let form = Form::Floats(Vec::new());
    // GEMMs with 16-bit weights have one group.
    let form = if groups == 1 { form.narrowed(&data, None) } else { form };
    Ok((data, form, None))
}
