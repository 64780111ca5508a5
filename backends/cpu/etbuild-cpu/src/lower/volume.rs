//! Convolutions and pools of volumes `[batch, channels, depth, height, width]`, by those of images.
//!
//! An output frame of a convolution sees a frame of the input for each kernel position of the depth. Copies put the channels of these
//! frames beside each other (im2col of the depth alone), and the convolution of images does the rest, by the indirection buffer or by
//! Winograd. A copy moves each element as often as the kernel is deep, where the GEMM multiplies it by all output channels and kernel
//! positions. A pool of volumes is a pool of frames and one along the depth.

use et_cpu::{Axis, Place, Pool, PoolKind, QParams, RowScales, Rows, Window, Write};
use etbuild_backend::Call;
use etbuild_cpu_weights::Form;
use etbuild_ir::ConstantData;
use etbuild_weights::reals;

use crate::Problem;
use crate::builder::{Builder, place};
use crate::lower::Lowered;
use crate::lower::axes::{self, Steps};
use crate::lower::conv2d::{self, Input};
use crate::tensor::{FLOAT, Tensor};

/// The dimensions of a volume in the order of frames: batch, depth, channels, height and width.
const BY_FRAME: [usize; 5] = [0, 2, 1, 3, 4];

/// A convolution of volumes with constant weights `[output channels, channels of a group, depth, height, width]`.
pub fn convolution(builder: &mut Builder<'_>, call: &Call<'_>) -> Lowered {
    let [depth, height, width] = axes::of_convolution(call)?;
    let groups = call.int(8)?.and_then(|groups| usize::try_from(groups).ok()).ok_or(Problem::Arguments)?;
    let input = builder.tensor(call.value(0)?)?;
    let [batch, columns, ..] = call.output_sizes()?[..] else { return Err(Problem::Arguments) };
    let channels = input.sizes[1] * depth.kernel as usize;
    let frames = frames(builder, &input, depth, groups)?;
    let frames_of_output = batch * depth.output as usize;
    let output = builder.image(FLOAT, &[frames_of_output, columns, height.output as usize, width.output as usize]);
    let sizes = [frames_of_output, channels, columns].map(|size| size as u32);
    let window = Window { groups: groups as u32, ..window(sizes, height, width) };
    let input = Input {
        rows: Rows { place: frames, stride: channels as u32 },
        qparams: QParams::FLOAT,
        row_scales: RowScales::ABSENT,
    };
    conv2d::gemm(builder, input, weights(builder, call)?, &output, window)?;
    volume(&output, batch, depth.output)
}

/// The volumes that frames `[batch * depth, channels, height, width]` make.
fn volume(frames: &Tensor, batch: usize, depth: u32) -> Lowered {
    let [_, channels, height, width] = frames.sizes[..] else { return Err(Problem::Arguments) };
    let volume = frames.viewed(&[batch, depth as usize, channels, height, width]).ok_or(Problem::Arguments)?;
    Ok(Some(volume.permuted(&BY_FRAME)))
}

/// The window of frames: a number of frames, their channels, and the output channels.
const fn window([batch, channels, columns]: [u32; 3], height: Axis, width: Axis) -> Window {
    Window {
        batch,
        input: [height.input, width.input, channels],
        output: [height.output, width.output, columns],
        kernel: [height.kernel, width.kernel],
        stride: [height.stride, width.stride],
        padding: [height.padding, width.padding],
        dilation: [height.dilation, width.dilation],
        groups: 1,
        is_planar: false,
    }
}

/// The frames `[batch, output depth, height, width, groups, kernel depth, channels of a group]` that output frames see.
fn frames(builder: &mut Builder<'_>, input: &Tensor, depth: Axis, groups: usize) -> Result<Place, Problem> {
    let [batch, channels, deep, height, width] = input.sizes[..] else { return Err(Problem::Arguments) };
    let of_group = channels.checked_div(groups).ok_or(Problem::Arguments)?;
    let by_group = builder.viewed(input.clone(), &[batch, groups, of_group, deep, height, width])?;
    let by_frame = by_group.permuted(&[0, 3, 4, 5, 1, 2]);
    if (depth.kernel, depth.stride, depth.padding) == (1, 1, 0) {
        return Ok(place(&builder.in_row_major(by_frame)));
    }
    let taps = depth.kernel as usize;
    let sizes = [batch, depth.output as usize, height, width, groups, taps, of_group];
    let whole = builder.row_major(FLOAT, &sizes);
    let zero = builder.constant([0.0].into_iter(), &[1]);
    for tap in 0..depth.kernel {
        let target = whole.selected(5, tap as usize);
        let [first, end] = seen(depth, tap);
        if first < end {
            let start = first * depth.stride + tap * depth.dilation - depth.padding;
            let source = by_frame.sliced(1, start as usize, (end - first) as usize, depth.stride as usize);
            builder.copy(&source, &part(&target, first, end));
        }
        for [first, end] in [[0, first.min(end)], [end, depth.output]].into_iter().filter(|[first, end]| first < end) {
            let padding = part(&target, first, end);
            builder.copy(&zero.expanded(&padding.sizes), &padding);
        }
    }
    Ok(place(&whole))
}

/// The output frames for which a kernel position lies within the input.
fn seen(depth: Axis, tap: u32) -> [u32; 2] {
    let reach = tap * depth.dilation;
    let first = depth.padding.saturating_sub(reach).div_ceil(depth.stride);
    let end = (depth.input + depth.padding).saturating_sub(reach).div_ceil(depth.stride);
    [first.min(depth.output), end.min(depth.output)]
}

fn part(frames: &Tensor, first: u32, end: u32) -> Tensor {
    frames.sliced(1, first as usize, (end - first) as usize, 1)
}

/// The weights `[output channels, depth * channels of a group, height, width]` with the bias.
fn weights(builder: &Builder<'_>, call: &Call<'_>) -> Result<conv2d::Unpacked, Problem> {
    let [_, channels, depth, height, width] = call.sizes(call.value(1)?)[..] else { return Err(Problem::Arguments) };
    let stored = conv2d::floats(builder, call.value(1)?)?;
    let taps = height * width;
    let of_column = |column: &[f32]| -> Vec<f32> {
        let runs = (0..depth).flat_map(|tap| (0..channels).map(move |channel| (channel * depth + tap) * taps));
        runs.flat_map(|start| column.iter().skip(start).take(taps)).copied().collect()
    };
    let turned: Vec<f32> = stored.chunks_exact((channels * depth * taps).max(1)).flat_map(of_column).collect();
    let bias = conv2d::bias_of(builder, call, 2)?;
    Ok((ConstantData::new(reals::stored(&turned)), Form::Floats(bias), None))
}

/// Max pooling of volumes, without the output of indices.
pub fn max_pool(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    pool(builder, &call, PoolKind::Max, call.ints(4)?)
}

/// Average pooling of volumes.
pub fn avg_pool(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let with_padding = call.flag(5)?;
    pool(builder, &call, if with_padding { PoolKind::AveragePadded } else { PoolKind::Average }, &[])
}

fn pool(builder: &mut Builder<'_>, call: &Call<'_>, kind: PoolKind, dilation: &[i64]) -> Lowered {
    let kernel = call.ints(1)?;
    let stride = if call.ints(2)?.is_empty() { kernel } else { call.ints(2)? };
    let steps = Steps { stride, padding: call.ints(3)?, dilation };
    let size = |dim: usize| kernel.get(dim).or(kernel.first()).and_then(|size| usize::try_from(*size).ok());
    let kernel = [size(0), size(1), size(2)].map(|size| size.ok_or(Problem::Arguments));
    let [first, second, third] = kernel;
    let input = builder.tensor(call.value(0)?)?;
    let kernel = [first?, second?, third?];
    let [depth, height, width] = axes::axes(&input.sizes, &call.output_sizes()?, &kernel, &steps)?;
    let [batch, channels, deep, high, wide] = input.sizes[..] else { return Err(Problem::Arguments) };
    let frames = builder.viewed(input.permuted(&BY_FRAME), &[batch * deep, channels, high, wide])?;
    let frames = builder.in_channels_last(frames);
    let pooled = builder.image(FLOAT, &[batch * deep, channels, height.output as usize, width.output as usize]);
    emit(
        builder,
        [&frames, &pooled],
        window([batch * deep, channels, channels].map(|size| size as u32), height, width),
        kind,
    );
    // The elements of a frame are the channels of an image whose height is the depth.
    let elements = channels * (height.output * width.output) as usize;
    let sizes = [batch * depth.output as usize, channels, height.output as usize, width.output as usize];
    let output = builder.image(FLOAT, &sizes);
    let along = window([batch, elements, elements].map(|size| size as u32), depth, Axis::ABSENT);
    emit(builder, [&pooled, &output], along, kind);
    volume(&output, batch, depth.output)
}

fn emit(builder: &mut Builder<'_>, [input, output]: [&Tensor; 2], window: Window, kind: PoolKind) {
    let window = Window { groups: window.output[2], ..window };
    builder.emit(Pool { input: place(input), output: Write(place(output)), qparams: QParams::FLOAT, window, kind });
}
