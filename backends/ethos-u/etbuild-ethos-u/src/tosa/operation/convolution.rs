//! CONV2D and DEPTHWISE_CONV2D: products of int8 images and int8 weights, summed in int32.
//!
//! Operands: the image `[batch, height, width, channels]`, the weights, the bias, and the zero points of image and weights.

use super::{Operation, Value};
use crate::tosa::array::within;
use crate::tosa::{Array, Code, Field, Kind, fields};

/// How a kernel moves over an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Top, bottom, left, right.
    pub pad: [i32; 4],
    /// Vertical and horizontal.
    pub stride: [i32; 2],
    /// Vertical and horizontal.
    pub dilation: [i32; 2],
}

/// Weights `[outputs, height, width, inputs]`.
#[derive(Debug)]
pub struct Conv2d(pub Window);

/// Weights `[height, width, inputs, multiplier]`.
#[derive(Debug)]
pub struct DepthwiseConv2d(pub Window);

impl Window {
    fn attributes(&self) -> Vec<(Field, Value)> {
        vec![
            (fields::convolution::PAD, Value::Integers(self.pad.to_vec())),
            (fields::convolution::STRIDE, Value::Integers(self.stride.to_vec())),
            (fields::convolution::DILATION, Value::Integers(self.dilation.to_vec())),
            (fields::convolution::SUM_TYPE, Value::Number(Kind::Int32 as u32)),
        ]
    }

    /// The results along an axis, which the specification wants to be whole.
    fn count(&self, axis: usize, size: usize, kernel: usize) -> Option<usize> {
        let span = size as i64 - 1 + i64::from(self.pad[2 * axis]) + i64::from(self.pad[2 * axis + 1])
            - (kernel as i64 - 1) * i64::from(self.dilation[axis]);
        let stride = i64::from(self.stride[axis]);
        (stride > 0 && span >= 0 && span % stride == 0).then(|| (span / stride + 1) as usize)
    }

    /// The row or column that a tap reads; `None` in the padding.
    fn place(&self, axis: usize, (out, tap): (usize, usize), size: usize) -> Option<usize> {
        let at = out as i64 * i64::from(self.stride[axis]) + tap as i64 * i64::from(self.dilation[axis])
            - i64::from(self.pad[2 * axis]);
        usize::try_from(at).ok().filter(|at| *at < size)
    }

    /// The taps of a result that lie in the image: the number of the tap and the number of the pixel.
    fn taps(&self, (row, column): (usize, usize), kernel: [usize; 2], image: [usize; 2]) -> Vec<(usize, usize)> {
        let mut taps = Vec::with_capacity(kernel[0] * kernel[1]);
        for down in 0..kernel[0] {
            let Some(y) = self.place(0, (row, down), image[0]) else { continue };
            for right in 0..kernel[1] {
                if let Some(x) = self.place(1, (column, right), image[1]) {
                    taps.push((down * kernel[1] + right, y * image[1] + x));
                }
            }
        }
        taps
    }
}

/// The operands of a convolution as slices.
struct Operands<'a> {
    sizes: [usize; 4],
    image: Vec<i64>,
    weights: &'a [i64],
    bias: &'a [i64],
}

impl<'a> Operands<'a> {
    fn of(inputs: &[&'a Array]) -> Option<(Self, [usize; 4])> {
        let [image, weights, bias, image_zero, weight_zero] = inputs else { return None };
        let (zero, sizes) = (image_zero.only()?, image.image()?);
        let kinds = [image.kind, weights.kind, bias.kind] == [Kind::Int8, Kind::Int8, Kind::Int32];
        let shape = weights.image().filter(|_| kinds && weight_zero.only() == Some(0))?;
        let image = image.numbers.iter().map(|number| number - zero).collect();
        Some((Self { sizes, image, weights: &weights.numbers, bias: &bias.numbers }, shape))
    }

    fn bias(&self, channel: usize) -> Option<i64> {
        self.bias.get(if self.bias.len() == 1 { 0 } else { channel }).copied()
    }

    /// Sums for each result: `sum` gets the start of the image's batch, the taps, and the channel.
    fn sums(
        &self,
        window: &Window,
        kernel: [usize; 2],
        channels: usize,
        sum: impl Fn(usize, &[(usize, usize)], usize) -> Option<i64>,
    ) -> Option<Array> {
        let [batch, height, width, inner] = self.sizes;
        let (rows, columns) = (window.count(0, height, kernel[0])?, window.count(1, width, kernel[1])?);
        let mut numbers = Vec::with_capacity(batch * rows * columns * channels);
        for result in 0..batch * rows * columns {
            let (image, row, column) = (result / (rows * columns), result / columns % rows, result % columns);
            let taps = window.taps((row, column), kernel, [height, width]);
            for channel in 0..channels {
                let total = sum(image * height * width * inner, &taps, channel)? + self.bias(channel)?;
                numbers.push(within(Kind::Int32, total)?);
            }
        }
        Some(Array { kind: Kind::Int32, sizes: vec![batch, rows, columns, channels], numbers })
    }
}

impl Operation for Conv2d {
    fn code(&self) -> Code {
        fields::CONV2D
    }

    fn attributes(&self) -> Vec<(Field, Value)> {
        self.0.attributes()
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        let (operands, [channels, height, width, inner]) = Operands::of(inputs)?;
        let count = height * width * inner;
        if operands.sizes[3] != inner {
            return None;
        }
        operands.sums(&self.0, [height, width], channels, |start, taps, channel| {
            let weights = operands.weights.get(channel * count..(channel + 1) * count)?;
            let mut total = 0;
            for (tap, pixel) in taps {
                let weights = weights.get(tap * inner..(tap + 1) * inner)?;
                let pixel = operands.image.get(start + pixel * inner..start + (pixel + 1) * inner)?;
                total += weights.iter().zip(pixel).map(|(weight, number)| weight * number).sum::<i64>();
            }
            Some(total)
        })
    }
}

impl Operation for DepthwiseConv2d {
    fn code(&self) -> Code {
        fields::DEPTHWISE_CONV2D
    }

    fn attributes(&self) -> Vec<(Field, Value)> {
        self.0.attributes()
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        let (operands, [height, width, inner, multiplier]) = Operands::of(inputs)?;
        let channels = inner * multiplier;
        if operands.sizes[3] != inner {
            return None;
        }
        operands.sums(&self.0, [height, width], channels, |start, taps, channel| {
            let each = taps.iter().map(|(tap, pixel)| {
                let number = operands.image.get(start + pixel * inner + channel / multiplier)?;
                Some(operands.weights.get(tap * channels + channel)? * number)
            });
            each.sum()
        })
    }
}
