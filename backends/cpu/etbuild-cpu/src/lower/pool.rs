//! Pooling operators.

use et_cpu::{Pool, PoolKind, Write};
use etbuild_backend::Call;

use crate::Problem;
use crate::builder::{Builder, place};
use crate::lower::{Lowered, window};
use crate::tensor::Tensor;

/// Max pooling, without the output of indices.
pub fn max_pool(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    pool(builder, &call, PoolKind::Max)
}

/// Average pooling.
pub fn avg_pool(builder: &mut Builder<'_>, call: Call<'_>) -> Lowered {
    let with_padding = call.flag(5)?;
    pool(builder, &call, if with_padding { PoolKind::AveragePadded } else { PoolKind::Average })
}

fn pool(builder: &mut Builder<'_>, call: &Call<'_>, kind: PoolKind) -> Lowered {
    let input = builder.stored(call.value(0)?)?;
    let input = builder.in_channels_last(input);
    let sizes: [usize; 4] = call.output_sizes()?.try_into().map_err(|_| Problem::Arguments)?;
    let qparams = input.qparams;
    let output = Tensor { qparams, ..builder.image(input.scalar_type, &sizes) };
    let window = window(&input, &output, call.pool()?, sizes[1] as u32);
    builder.emit(Pool { input: place(&input), output: Write(place(&output)), qparams, window, kind });
    Ok(Some(output))
}
