//! AVG_POOL2D and MAX_POOL2D of int8 images `[batch, height, width, channels]`. Padding counts in neither.

use super::rescale::{Scale, applied};
use super::{Operation, Value};
use crate::tosa::{Array, Code, Field, Kind, fields};

/// How a window moves over an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolWindow {
    /// Vertical and horizontal.
    pub kernel: [i32; 2],
    /// Vertical and horizontal.
    pub stride: [i32; 2],
    /// Top, bottom, left, right.
    pub pad: [i32; 4],
}

/// The average; further operands are the zero points of operand and result.
#[derive(Debug)]
pub struct AvgPool2d(pub PoolWindow);

/// The greatest number.
#[derive(Debug)]
pub struct MaxPool2d(pub PoolWindow);

impl PoolWindow {
    fn attributes(&self) -> Vec<(Field, Value)> {
        vec![
            (fields::pool::KERNEL, Value::Integers(self.kernel.to_vec())),
            (fields::pool::STRIDE, Value::Integers(self.stride.to_vec())),
            (fields::pool::PAD, Value::Integers(self.pad.to_vec())),
        ]
    }

    fn count(&self, axis: usize, size: usize) -> Option<usize> {
        let span = size as i32 + self.pad[2 * axis] + self.pad[2 * axis + 1] - self.kernel[axis];
        let stride = self.stride[axis];
        (stride > 0 && span >= 0 && span % stride == 0).then(|| (span / stride + 1) as usize)
    }

    /// The rows or columns of a result's window.
    fn range(&self, axis: usize, out: usize, size: usize) -> std::ops::Range<usize> {
        let start = out as i32 * self.stride[axis] - self.pad[2 * axis];
        start.max(0) as usize..((start + self.kernel[axis]).max(0) as usize).min(size)
    }

    /// The results, each of the numbers of its window.
    fn results(&self, input: &Array, each: impl Fn(&[i64]) -> Option<i64>) -> Option<Array> {
        let [batch, height, width, channels] = input.image().filter(|_| input.kind == Kind::Int8)?;
        let (rows, columns) = (self.count(0, height)?, self.count(1, width)?);
        let sizes = vec![batch, rows, columns, channels];
        let mut numbers = Vec::with_capacity(sizes.iter().product());
        for result in 0..batch * rows * columns {
            let (image, row, column) = (result / (rows * columns), result / columns % rows, result % columns);
            for channel in 0..channels {
                let across = self.range(1, column, width);
                let window: Option<Vec<i64>> = self
                    .range(0, row, height)
                    .flat_map(|y| across.clone().map(move |x| (y, x)))
                    .map(|(y, x)| input.numbers.get(((image * height + y) * width + x) * channels + channel).copied())
                    .collect();
                numbers.push(each(&window?)?);
            }
        }
        Some(Array { kind: Kind::Int8, sizes, numbers })
    }
}

impl Operation for AvgPool2d {
    fn code(&self) -> Code {
        fields::AVG_POOL2D
    }

    fn attributes(&self) -> Vec<(Field, Value)> {
        let mut attributes = self.0.attributes();
        attributes.push((fields::pool::SUM_TYPE, Value::Number(Kind::Int32 as u32)));
        attributes
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        let [input, zero, result_zero] = inputs else { return None };
        let (zero, result_zero) = (zero.only()?, result_zero.only()?);
        self.0.results(input, |window| {
            let sum: i64 = window.iter().map(|number| number - zero).sum();
            let average = applied(sum, inverse(window.len())?)?;
            Some((average + result_zero).clamp(-128, 127))
        })
    }
}

/// The factor that divides by a count, as the specification computes it.
fn inverse(count: usize) -> Option<Scale> {
    let count = u32::try_from(count).ok().filter(|count| *count > 0)?;
    let bits = 32 - (count - 1).leading_zeros();
    let numerator = ((1_i64 << 30) + 1) << bits;
    Some(Scale { multiplier: i32::try_from(numerator / i64::from(count)).ok()?, shift: 30 + bits as i8 })
}

impl Operation for MaxPool2d {
    fn code(&self) -> Code {
        fields::MAX_POOL2D
    }

    fn attributes(&self) -> Vec<(Field, Value)> {
        let mut attributes = self.0.attributes();
        attributes.push((fields::pool::NAN_MODE, Value::Number(fields::PROPAGATE)));
        attributes
    }

    fn evaluate(&self, inputs: &[&Array]) -> Option<Array> {
        self.0.results(inputs.first()?, |window| window.iter().max().copied())
    }
}
