//! Pools.

use etbuild_backend::{Call, Geometry, Refusal, RefusalKind};

use crate::builder::{Builder, Order};
use crate::encoding::Encoding;
use crate::program::Parameter;

use super::Done;

/// An average pool.
pub fn average(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let divides_by_window = call.int(6)?.is_none();
    if !divides_by_window {
        return Err(Refusal::new(RefusalKind::Argument, "the pool has a divisor of its own"));
    }
    // The library divides the sum of a window that reaches beyond the image by another number.
    if overhangs(&call, 4)? {
        return Err(Refusal::new(
            RefusalKind::Argument,
            "windows of the average pool reach beyond the image (`ceil_mode`)",
        ));
    }
    let (counts, encoding) = (call.flag(5)?, builder.encoding(&[call.value(0)?], call.output()?)?);
    if !matches!(encoding, Encoding::Integer(_)) && fp16_differs(&call, counts)? {
        let reason = "the library averages windows of 2 with stride 1, and some paddings that count, wrongly in fp16";
        return Err(Refusal::new(RefusalKind::Argument, reason));
    }
    let counts = ("count_pad_for_edges", Parameter::Bool(counts));
    pool(builder, &call, "PoolAvg2d", vec![counts])
}

/// Whether the library averages other numbers in fp16: with windows of 2 and a stride of 1, and where the padding counts, with the padding of a
/// single channel or of half a window.
fn fp16_differs(call: &Call<'_>, counts: bool) -> Result<bool, Refusal> {
    let Geometry { kernel, stride, padding, .. } = call.pool()?;
    let has_one_channel = call.sizes(call.value(0)?).get(1) == Some(&1);
    let is_far = |axis: usize| counts && padding[axis] > 0 && (has_one_channel || 2 * padding[axis] >= kernel[axis]);
    Ok((0..2).any(|axis| is_far(axis) || (kernel[axis] == 2 && stride[axis] == 1)))
}

/// A maximum pool without indices.
pub fn max(builder: &mut Builder<'_>, call: Call<'_>) -> Done {
    let indices = call.node.outputs.get(1).is_some_and(|id| builder.links.read_count(*id) > 0);
    if indices {
        return Err(Refusal::new(RefusalKind::Argument, "the indices of the maxima are read"));
    }
    if call.pool()?.dilation != [1, 1] {
        return Err(Refusal::new(RefusalKind::Argument, "the pool is dilated"));
    }
    pool(builder, &call, "PoolMax2d", Vec::new())
}

/// Whether the last windows reach beyond image and padding, which the flag `ceil_mode` allows.
fn overhangs(call: &Call<'_>, ceil_mode: usize) -> Result<bool, Refusal> {
    let Geometry { kernel, stride, padding, .. } = call.pool()?;
    let (from, to) = (call.sizes(call.value(0)?), call.output_sizes()?);
    let mut sizes = from.iter().zip(to.iter()).skip(from.len().saturating_sub(2)).enumerate();
    let reaches = |(axis, (from, to)): (usize, (&usize, &usize))| {
        let [kernel, stride, padding] = [kernel, stride, padding].map(|numbers| numbers[axis] as usize);
        to.saturating_sub(1) * stride + kernel > from + 2 * padding
    };
    Ok(call.flag(ceil_mode)? && sizes.any(reaches))
}

fn pool(
    builder: &mut Builder<'_>,
    call: &Call<'_>,
    type_name: &'static str,
    more: Vec<(&'static str, Parameter)>,
) -> Done {
    let (input, output) = (call.value(0)?, call.output()?);
    if call.sizes(input).len() != 4 {
        return Err(Refusal::new(RefusalKind::Shape, "only pools of images in batches run on the NPU"));
    }
    let ceil = overhangs(call, if type_name == "PoolMax2d" { 5 } else { 4 })?;
    let Geometry { kernel, stride, padding: [top, left], .. } = call.pool()?;
    let mut parameters = vec![
        ("filter_size", Parameter::Integers(vec![2], kernel.to_vec())),
        ("stride", Parameter::Integers(vec![2], stride.to_vec())),
        ("pad_amount", Parameter::Integers(vec![2, 2], vec![top, top, left, left])),
        ("rounding_mode", Parameter::Uint32(u32::from(ceil))),
    ];
    parameters.extend(more);
    builder.map(type_name, parameters, [input, output], Order::Nhwc)
}
