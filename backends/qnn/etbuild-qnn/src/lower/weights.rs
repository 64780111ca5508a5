//! Weights of convolutions and linear layers, in the order and with the scales of the library.

use et_qnn::ScaleOffset;
use et_qnn::build::{DataType, Quantization};
use etbuild_backend::{ByteWeights, Refusal, RefusalKind};
use etbuild_ir::{Argument, ConstantData, DequantizeAffine, Links, Node, PerTensor, ValueId};
use etbuild_weights::reals;

use crate::builder::{Builder, Order, Step};
use crate::encoding::{Affine, Encoding};
use crate::program::TensorId;

/// The sizes of weights as of a convolution.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// Output channels.
    pub out: usize,
    /// Input channels of a group.
    pub inner: usize,
    /// Height and width.
    pub window: [usize; 2],
    /// Whether the convolution is depthwise.
    pub is_depthwise: bool,
}

/// Integer weights in row-major order `[out][inner][window]`.
pub struct Integers {
    bytes: ConstantData,
    /// The real value of a channel's step.
    scales: Vec<f32>,
    /// The bits of an integer.
    bits: u32,
    /// Multiples of the channel's step by channel and block; empty for channels without blocks.
    multiples: Vec<u8>,
}

/// Blocks are multiples of this many weights; the library computes something else for smaller ones.
const SMALLEST_BLOCK: usize = 16;

/// Multiples of a channel's scale have 4 bits and are not 0.
const LARGEST_MULTIPLE: f32 = 15.0;

impl Integers {
    /// The integers behind dequantized weights; `None` for other weights.
    pub fn of(links: &Links<'_>, id: ValueId, kernel: Kernel) -> Option<Self> {
        if let Some(ByteWeights { bytes, scales, .. }) = ByteWeights::of(links, id) {
            return Some(Self { bytes, scales, bits: bits(links.maker(id)?), multiples: Vec::new() });
        }
        Self::in_groups(links, id, kernel)
    }

    /// int4 in groups: the scale of a group is an integer multiple of the scale of its row.
    fn in_groups(links: &Links<'_>, id: ValueId, kernel: Kernel) -> Option<Self> {
        let node = DequantizeAffine::of(links.maker(id)?)?;
        let DequantizeAffine { integers, block, scales, zero_points: None, most, .. } = node else { return None };
        let bits = if most == MOST_INT4 { 4 } else { 8 };
        let bytes = links.graph.constant(integers)?.clone();
        let groups = reals::floats(links.graph.constant(scales)?.bytes());
        let length = usize::try_from(*block.last()?).ok()?;
        let columns = kernel.inner * kernel.window[0] * kernel.window[1];
        let blocks = columns.checked_div(length)?;
        if blocks > 1 && !length.is_multiple_of(SMALLEST_BLOCK) {
            return None;
        }
        if blocks <= 1 {
            return Some(Self { bytes, scales: groups, bits, multiples: Vec::new() });
        }
        let rows = groups.chunks(blocks).map(multiples).collect::<Option<Vec<_>>>()?;
        let (scales, multiples): (Vec<f32>, Vec<Vec<u8>>) = rows.into_iter().unzip();
        Some(Self { bytes, scales, bits, multiples: multiples.concat() })
    }

    fn quantization(&self, axis: u32) -> Quantization {
        let scales = || self.scales.iter().map(|scale| ScaleOffset { scale: *scale, offset: 0 }).collect();
        match (self.multiples.is_empty(), self.bits) {
            (false, _) => Quantization::Blocks { axis, scales: scales(), multiples: self.multiples.clone() },
            (true, 4) => Quantization::NarrowAxis { bits: 4, axis, scales: self.scales.clone() },
            (true, _) => Quantization::Axis { axis, scales: scales() },
        }
    }

    /// The scale of each output channel, for the bias.
    pub fn scales(&self) -> &[f32] {
        &self.scales
    }

    /// Adds the weights as a constant.
    pub fn add(&self, builder: &mut Builder<'_>, name: &str, kernel: Kernel) -> TensorId {
        let bytes = || kernel.reorder(self.bytes.bytes());
        builder.constant(name, (DataType::Int8, self.quantization(3)), kernel.sizes(), bytes)
    }
}

/// The greatest int4.
const MOST_INT4: i64 = 7;

/// The bits of integers that are dequantized by tensor or by channel, by the limits that the node states.
fn bits(node: &Node) -> u32 {
    let most = match &node.arguments[..] {
        [_, Argument::Value(_), Argument::Value(_), Argument::Int(_), _, Argument::Int(most), ..] => Some(*most),
        _ => PerTensor::of_dequantize(node).map(|found| found.most),
    };
    if most == Some(MOST_INT4) { 4 } else { 8 }
}

/// A scale and the multiples of it that a row of groups has; `None` where 4 bits do not hold the multiples.
fn multiples(row: &[f32]) -> Option<(f32, Vec<u8>)> {
    let greatest = row.iter().copied().fold(0.0_f32, f32::max);
    let exact = (1..=15_u8).rev().map(|most| greatest / f32::from(most)).find_map(|scale| {
        let each = row.iter().map(|group| {
            let multiple = (group / scale).round();
            let is_exact = (group / scale - multiple).abs() < 1e-3 && (1.0..=LARGEST_MULTIPLE).contains(&multiple);
            is_exact.then_some(multiple as u8)
        });
        Some((scale, each.collect::<Option<Vec<u8>>>()?))
    });
    exact.filter(|_| greatest > 0.0)
}

impl Kernel {
    /// The sizes in the library's order.
    pub fn sizes(self) -> Vec<u32> {
        let Self { out, inner, window: [height, width], .. } = self;
        let inner = if self.is_depthwise { 1 } else { inner };
        [height, width, inner, out].map(|size| size as u32).to_vec()
    }

    /// Elements `[out][inner][height][width]` as `[height][width][inner][out]`, tile by tile: a whole column of a large matrix would not stay
    /// in the cache.
    pub fn reorder<T: Copy + Default>(self, elements: &[T]) -> Vec<T> {
        let (out, inner, taps) = (self.out, self.inner, self.window[0] * self.window[1]);
        let columns = inner * taps;
        let mut ordered = vec![T::default(); elements.len()];
        for column in (0..columns).step_by(TILE) {
            let tile = column..columns.min(column + TILE);
            let starts: Vec<usize> = tile.clone().map(|at| (at % taps * inner + at / taps) * out).collect();
            for row in 0..out {
                let run = elements.get(row * columns + tile.start..row * columns + tile.end).unwrap_or_default();
                for (start, element) in starts.iter().zip(run) {
                    if let Some(slot) = ordered.get_mut(start + row) {
                        *slot = *element;
                    }
                }
            }
        }
        ordered
    }
}

/// The columns of a tile.
const TILE: usize = 64;

/// Weights in fp16.
///
/// # Errors
/// Weights that are no constants.
pub fn float_weights(builder: &mut Builder<'_>, id: ValueId, kernel: Kernel) -> Step<TensorId> {
    let numbers = builder.floats(id).map_err(|_| no_constant())?;
    let name = builder.links.graph.value(id).name.clone();
    Ok(builder.numbers(&name, Encoding::Float, kernel.sizes(), &kernel.reorder(&numbers)))
}

/// The refusal of computed weights.
pub fn no_constant() -> Refusal {
    Refusal::new(RefusalKind::Constant, "the weights are not constants")
}

/// A bias, of int32 with the scale of the accumulator, or of fp16; `None` without a bias.
///
/// # Errors
/// A bias that is no constant.
pub fn bias(
    builder: &mut Builder<'_>,
    id: Option<ValueId>,
    integers: Option<(Affine, &Integers)>,
) -> Step<Option<TensorId>> {
    let Some(id) = id else { return Ok(None) };
    let numbers = builder.floats(id)?;
    let name = builder.links.graph.value(id).name.clone();
    let sizes = builder.sizes(id, Order::RowMajor);
    let Some((input, weights)) = integers else {
        return Ok(Some(builder.numbers(&name, Encoding::Float, sizes, &numbers)));
    };
    let scales: Vec<f32> = weights.scales().iter().map(|scale| scale * input.scale).collect();
    let integer = |(number, scale): (&f32, &f32)| (number / scale).round_ties_even() as i32;
    let data = || numbers.iter().zip(&scales).map(integer).flat_map(i32::to_le_bytes).collect();
    let offsets = scales.iter().map(|scale| ScaleOffset { scale: *scale, offset: 0 }).collect();
    let quantization = Quantization::Axis { axis: 0, scales: offsets };
    Ok(Some(builder.constant(&name, (DataType::Fixed32, quantization), sizes, data)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_transposed_in_tiles_of_any_number() {
        let kernel = Kernel { out: 3, inner: 50, window: [1, 2], is_depthwise: false };
        let elements: Vec<u16> = (0..300).collect();
        let places = (0..2).flat_map(|tap| (0..50).flat_map(move |channel| (0..3).map(move |row| (row, channel, tap))));
        let wanted: Vec<u16> = places.map(|(row, channel, tap)| (row * 50 + channel) * 2 + tap).collect();
        assert_eq!(kernel.reorder(&elements), wanted);
    }
}
