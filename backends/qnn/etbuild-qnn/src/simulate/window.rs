//! The window of a convolution, which moves over an image with channels last.

use std::ops::{AddAssign, Mul};

use etbuild_backend::{Refusal, RefusalKind};

use crate::program::Tensor;

use super::step::{Step, malformed};

/// Numbers that are multiplied and summed up.
pub trait Number: Copy + Default + AddAssign + Mul<Output = Self> {}

impl Number for i64 {}
impl Number for f64 {}

/// The sizes of a convolution.
pub struct Window {
    /// Height, width and channels of the operand.
    from: [usize; 3],
    /// Height, width and channels of the result.
    pub to: [usize; 3],
    /// Height and width of the kernel, and the input channels of a group.
    kernel: [usize; 3],
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
}

/// The window of a convolution.
///
/// # Errors
/// Tensors and parameters of another operation.
pub fn window(step: &Step<'_>) -> Result<Window, Refusal> {
    let image = |tensor: &Tensor| match tensor.sizes[..] {
        [1, height, width, channels] => Ok([height, width, channels].map(|size| size as usize)),
        _ => Err(Refusal::new(RefusalKind::Shape, "the simulation of the NPU lacks batches of images")),
    };
    let [height, width, inner, _] = step.tensor(1)?.sizes[..] else { return Err(malformed()) };
    let pair = |name: &str, positions: [usize; 2]| {
        let numbers = step.sizes(name);
        Some([*numbers.get(positions[0])?, *numbers.get(positions[1])?])
    };
    Ok(Window {
        from: image(step.tensor(0)?)?,
        to: image(step.output())?,
        kernel: [height, width, inner].map(|size| size as usize),
        stride: pair("stride", [0, 1]).ok_or_else(malformed)?,
        padding: pair("pad_amount", [0, 2]).ok_or_else(malformed)?,
        dilation: pair("dilation", [0, 1]).unwrap_or([1, 1]),
    })
}

impl Window {
    /// The sums of products, `[height][width][out]`.
    pub fn accumulators<T: Number>(&self, image: &[T], weights: &[T]) -> Vec<T> {
        let [height, width, out] = self.to;
        let mut sums = vec![T::default(); height * width * out];
        for (pixel, sums) in sums.chunks_mut(out.max(1)).enumerate() {
            let place = [pixel / width, pixel % width];
            for tap in 0..self.kernel[0] * self.kernel[1] {
                if let Some(from) = self.source(place, [tap / self.kernel[1], tap % self.kernel[1]]) {
                    let channels = &image[from * self.from[2]..][..self.from[2]];
                    self.add(sums, channels, &weights[tap * self.kernel[2] * out..][..self.kernel[2] * out]);
                }
            }
        }
        sums
    }

    /// The pixel of the operand that a tap of the kernel reads; `None` for padding, which is 0.
    fn source(&self, place: [usize; 2], tap: [usize; 2]) -> Option<usize> {
        let at = |axis: usize| {
            let reached = place[axis] * self.stride[axis] + tap[axis] * self.dilation[axis];
            reached.checked_sub(self.padding[axis]).filter(|position| *position < self.from[axis])
        };
        Some(at(0)? * self.from[1] + at(1)?)
    }

    /// Adds the products of a pixel's channels with weights `[inner][out]`.
    fn add<T: Number>(&self, sums: &mut [T], channels: &[T], weights: &[T]) {
        let (out, inner) = (self.to[2], self.kernel[2]);
        let group = (out / (self.from[2] / inner.max(1)).max(1)).max(1);
        for (row, weights) in weights.chunks(out).enumerate() {
            for (number, (sums, weights)) in sums.chunks_mut(group).zip(weights.chunks(group)).enumerate() {
                let operand = channels[number * inner + row];
                sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += operand * *weight);
            }
        }
    }
}
