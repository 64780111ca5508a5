//! Average pools and means over pixels: AVG_POOL2D where operand and result have equal qparams, else a depthwise convolution with ones, whose
//! factor divides by the count and changes the scale with one rounding.

use etbuild_backend::int8::pattern::{Operand, int8_operand, no};
use etbuild_backend::{Call, Geometry, RefusalKind, image_sizes};
use etbuild_ir::{Argument, Node};

use super::build::Order;
use super::image::{Fit, pair};
use super::{Done, Lowering, Target};
use crate::tosa::operation::{AvgPool2d, DepthwiseConv2d, Pad, PoolWindow, Scale, Window};
use crate::tosa::{Kind, TensorId};

/// An average over windows of an image.
struct Average {
    operand: Operand,
    geometry: Geometry,
    image: [usize; 2],
    results: [usize; 2],
}

/// Lowers an average pool whose windows have one divisor.
pub fn pool(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    let call = Call::new(lowering.links, node);
    let is_default = matches!(node.arguments.get(6), None | Some(Argument::None));
    let includes = node.arguments.get(5) != Some(&Argument::Bool(false));
    let geometry = call.pool()?;
    if !is_default || call.flag(4)? || !(includes || geometry.padding == [0, 0]) {
        return Err(no(RefusalKind::Argument, "windows at the border have other divisors"));
    }
    let operand = int8_operand(lowering.links, node)?;
    let ([_, _, image @ ..], [_, _, results @ ..]) =
        (image_sizes(&lowering.sizes(operand.id))?, image_sizes(&call.output_sizes()?)?);
    average(lowering, &Average { operand, geometry, image, results }, target)
}

/// Lowers a mean over all pixels.
pub fn mean(lowering: &mut Lowering<'_>, node: &Node, target: &Target) -> Done {
    let (call, operand) = (Call::new(lowering.links, node), int8_operand(lowering.links, node)?);
    let sizes = lowering.sizes(operand.id);
    let rank = sizes.len() as i64;
    let mut dims: Vec<i64> = call.ints(1)?.iter().map(|dim| dim.rem_euclid(rank.max(1))).collect();
    dims.sort_unstable();
    if dims != (2..rank).collect::<Vec<_>>() || !(3..=4).contains(&rank) {
        return Err(no(RefusalKind::Argument, "the mean is over other dimensions than pixels"));
    }
    let [_, _, image @ ..] = image_sizes(&sizes)?;
    let kernel = image.map(|size| size as u32);
    let geometry = Geometry { kernel, stride: [1; 2], padding: [0; 2], dilation: [1; 2] };
    average(lowering, &Average { operand, geometry, image, results: [1, 1] }, target)
}

fn average(lowering: &mut Lowering<'_>, average: &Average, target: &Target) -> Done {
    let Average { operand, geometry, image, results } = average;
    let fit = Fit::of(geometry, *image, *results)?;
    let name = lowering.name(target.id);
    let tensor = lowering.ordered(operand.id, Order::Nhwc)?;
    let tensor = lowering.read(tensor, fit.read, name);
    let (batch, channels) = (lowering.sizes_of(tensor)[0], lowering.sizes_of(tensor)[3]);
    let sizes = [batch, results[0], results[1], channels];
    let result = if operand.qparams == target.qparams {
        let tensor = bordered(lowering, (tensor, *operand), &fit, name);
        let window = PoolWindow { kernel: pair(geometry.kernel), stride: pair(geometry.stride), pad: [0; 4] };
        let zero = lowering.number(&format!("{name}.zero"), Kind::Int8, operand.qparams.zero);
        let pooled = lowering.emit(AvgPool2d(window), &[tensor, zero, zero], (name, Kind::Int8, &sizes));
        lowering.limited(pooled, target)
    } else {
        let sums = sums(lowering, (tensor, *operand), (geometry, &fit), (name, &sizes));
        let count = f64::from(geometry.kernel[0]) * f64::from(geometry.kernel[1]);
        let scale = Scale::of(operand.qparams.scale / target.qparams.scale / count);
        let reason = "the scales of operand and result differ too much";
        lowering.finish(sums, vec![scale.ok_or_else(|| no(RefusalKind::Quantization, reason))?], target)
    };
    let shaped = lowering.sizes(target.id);
    let (result, order) = match shaped.len() {
        3 | 4 => (result, Order::Nhwc),
        // A mean without the dimensions of pixels: both orders are the same.
        _ => (lowering.reshaped(result, &shaped, &format!("{name}.view")), Order::RowMajor),
    };
    lowering.store(target, result, order);
    Ok(())
}

/// The sums of windows, by a depthwise convolution with ones.
fn sums(
    lowering: &mut Lowering<'_>,
    (tensor, operand): (TensorId, Operand),
    (geometry, fit): (&Geometry, &Fit),
    (name, sizes): (&str, &[usize; 4]),
) -> TensorId {
    let channels = sizes[3];
    let [height, width] = geometry.kernel.map(|size| size as usize);
    let ones = vec![1; height * width * channels];
    let inputs = [
        tensor,
        lowering.bytes(&format!("{name}.ones"), &[height, width, channels, 1], ones),
        lowering.integers(&format!("{name}.bias"), &[0]),
        lowering.number(&format!("{name}.zero_image"), Kind::Int8, operand.qparams.zero),
        lowering.number(&format!("{name}.zero_weights"), Kind::Int8, 0),
    ];
    let window = Window { pad: fit.pad, stride: pair(geometry.stride), dilation: [1; 2] };
    lowering.emit(DepthwiseConv2d(window), &inputs, (&format!("{name}.sums"), Kind::Int32, sizes))
}

/// The image with its padding as zeros, which count.
fn bordered(lowering: &mut Lowering<'_>, (tensor, operand): (TensorId, Operand), fit: &Fit, name: &str) -> TensorId {
    let [top, bottom, left, right] = fit.pad.map(|count| usize::try_from(count).unwrap_or(0));
    let counts = [0, 0, top, bottom, left, right, 0, 0];
    if fit.pad == [0; 4] {
        return tensor;
    }
    let mut sizes = lowering.sizes_of(tensor);
    sizes.iter_mut().zip(counts.as_chunks::<2>().0).for_each(|(size, sides)| *size += sides[0] + sides[1]);
    let zero = lowering.number(&format!("{name}.zero"), Kind::Int8, operand.qparams.zero);
    let inputs = [tensor, lowering.shape(&format!("{name}.padding"), &counts), zero];
    lowering.emit(Pad, &inputs, (&format!("{name}.border"), Kind::Int8, &sizes))
}
