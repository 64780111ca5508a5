//! Pooling operators.

use et_cpu::{Pool, PoolKind, Window, Write};

use crate::Problem;
use crate::builder::{Builder, place};
use crate::call::Call;
use crate::lower::Lowered;
use crate::lower::conv2d::pair;
use crate::tensor::Tensor;

/// Max pooling, without the output of indices.
pub fn max_pool(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let dilation = pair(call.ints(4)?, 2, 1)?;
    pool(builder, &call, dilation, PoolKind::Max)
}

/// Average pooling.
pub fn avg_pool(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let with_padding = call.flag(5)?;
    pool(builder, &call, [1, 1], if with_padding { PoolKind::AveragePadded } else { PoolKind::Average })
}

fn pool(builder: &mut Builder<'_>, call: &Call<'_>, dilation: [u32; 2], kind: PoolKind) -> Lowered {
    let input = builder.stored(call.value(0)?)?;
    let input = builder.in_channels_last(input);
    let sizes: [usize; 4] = call.output_sizes()?.try_into().map_err(|_| Problem::Arguments)?;
    let qparams = input.qparams;
    let output = Tensor { qparams, ..builder.image(input.scalar_type, &sizes) };
    let kernel = pair(call.ints(1)?, 2, 1)?;
    let stride = call.ints(2)?;
    let stride = if stride.is_empty() { kernel } else { pair(stride, 2, 1)? };
    let padding = pair(call.ints(3)?, 2, 0)?;
    let shape = |tensor: &Tensor| [tensor.sizes[2] as u32, tensor.sizes[3] as u32, tensor.sizes[1] as u32];
    let (batch, groups) = (sizes[0] as u32, sizes[1] as u32);
    let window = Window {
        batch,
        input: shape(&input),
        output: shape(&output),
        kernel,
        stride,
        padding,
        dilation,
        groups,
        is_planar: false,
    };
    builder.emit(Pool { input: place(&input), output: Write(place(&output)), qparams, window, kind });
    Ok(Some(output))
}
