//! Windows that slide over the rows and columns of an image.

use et_core::{Error, Result, Shape, Tensor};

/// The largest parameter of a window: with sizes below 2^31, offsets stay within 32 bits.
const LARGEST: i64 = 1 << 24;

/// How a window slides along one dimension.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// The size of the input.
    pub input: usize,
    /// The number of taps of the window.
    pub kernel: usize,
    /// From one position of the window to the next.
    pub stride: usize,
    /// How far the window reaches out of the input at either end.
    pub padding: usize,
    /// From one tap to the next.
    pub dilation: usize,
}

/// The taps of one window that lie inside the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taps {
    /// The input index of the first.
    pub start: usize,
    /// The number of the first.
    pub first: usize,
    /// How many there are.
    pub count: usize,
}

impl Axis {
    /// A dimension that is not there.
    pub const ABSENT: Self = Self { input: 1, kernel: 1, stride: 1, padding: 0, dilation: 1 };

    /// Checks that a stride, a dilation and a window are at least 1, and that sums of parameters and sizes cannot overflow.
    pub fn new(input: usize, [kernel, stride, padding, dilation]: [i64; 4]) -> Result<Self> {
        if [kernel, stride, padding, dilation].iter().any(|parameter| *parameter > LARGEST) {
            return Err(Error::InvalidArgument);
        }
        let [kernel, stride, dilation] = [positive(kernel)?, positive(stride)?, positive(dilation)?];
        Ok(Self { input, kernel, stride, padding: natural(padding)?, dilation })
    }

    /// From the first to behind the last tap.
    pub fn span(&self) -> Result<usize> {
        let reach = (self.kernel - 1).checked_mul(self.dilation);
        reach.and_then(|reach| reach.checked_add(1)).ok_or(Error::InvalidArgument)
    }

    /// How far the first tap can move with the whole window inside the padded input.
    pub fn slack(&self) -> Result<usize> {
        let padded = self.padding.checked_mul(2).and_then(|padding| padding.checked_add(self.input));
        let slack = padded.zip(self.span().ok()).and_then(|(padded, span)| padded.checked_sub(span));
        slack.ok_or(Error::InvalidArgument)
    }

    /// The number of positions of the window.
    pub fn outputs(&self) -> Result<usize> {
        Ok(self.slack()? / self.stride + 1)
    }

    /// The taps of the window at position `output`.
    pub fn taps(&self, output: usize) -> Taps {
        let origin = output * self.stride;
        let first = self.padding.saturating_sub(origin).div_ceil(self.dilation).min(self.kernel);
        let end = (self.input + self.padding).saturating_sub(origin).div_ceil(self.dilation).min(self.kernel);
        let start = (origin + first * self.dilation).saturating_sub(self.padding);
        Taps { start, first, count: end.saturating_sub(first) }
    }

    /// The input index that tap `tap` spreads to `output` when the window writes instead of reads.
    pub fn source(&self, output: usize, tap: usize) -> Option<usize> {
        let distance = (output + self.padding).checked_sub(tap * self.dilation)?;
        (distance.is_multiple_of(self.stride) && distance / self.stride < self.input).then(|| distance / self.stride)
    }
}

/// A tensor as batch, channels, rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// The four sizes.
    pub sizes: [usize; 4],
    /// The four strides.
    pub strides: [usize; 4],
}

impl Image {
    /// A tensor of rank 4, or of rank 3 where dimension `absent` is not there.
    pub fn new(tensor: &Tensor<'_>, absent: usize) -> Result<Self> {
        let (shape, strides) = (tensor.shape(), tensor.strides());
        let mut image = Self { sizes: [1; 4], strides: [0; 4] };
        let dims = match shape.rank() {
            4 => [0, 1, 2, 3],
            3 => [0, 1, 2, 3].map(|dim| if dim < absent { dim } else { dim.wrapping_sub(1) }),
            _ => return Err(Error::InvalidArgument),
        };
        for (slot, dim) in dims.into_iter().enumerate().filter(|(slot, _)| shape.rank() == 4 || *slot != absent) {
            (image.sizes[slot], image.strides[slot]) = (shape.size(dim), strides[dim]);
        }
        Ok(image)
    }

    /// The offset of row 0, column 0 of a channel.
    #[inline]
    pub const fn plane(&self, batch: usize, channel: usize) -> usize {
        batch * self.strides[0] + channel * self.strides[1]
    }

    /// The offset of a pixel in its plane.
    #[inline]
    pub const fn pixel(&self, row: usize, column: usize) -> usize {
        row * self.strides[2] + column * self.strides[3]
    }
}

/// A number that is not negative.
pub fn natural(value: i64) -> Result<usize> {
    usize::try_from(value).map_err(|_| Error::InvalidArgument)
}

fn positive(value: i64) -> Result<usize> {
    natural(value).and_then(|value| if value == 0 { Err(Error::InvalidArgument) } else { Ok(value) })
}

/// Adds an innermost dimension of `size`.
pub fn push(shape: &mut Shape, size: usize) -> Result<()> {
    shape.push(i32::try_from(size).map_err(|_| Error::InvalidArgument)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_outside_the_input_are_left_out() {
        let axis = Axis::new(4, [3, 2, 1, 1]).unwrap();
        assert_eq!(axis.outputs(), Ok(2));
        assert_eq!(axis.taps(0), Taps { start: 0, first: 1, count: 2 });
        assert_eq!(axis.taps(1), Taps { start: 1, first: 0, count: 3 });
    }

    #[test]
    fn dilated_taps_start_at_the_first_inside() {
        let axis = Axis::new(2, [3, 1, 3, 2]).unwrap();
        assert_eq!(axis.taps(0), Taps { start: 1, first: 2, count: 1 });
        assert_eq!(axis.taps(1), Taps { start: 0, first: 1, count: 1 });
    }

    #[test]
    fn a_window_larger_than_the_padded_input_is_refused() {
        assert_eq!(Axis::new(2, [4, 1, 0, 1]).unwrap().outputs(), Err(Error::InvalidArgument));
        assert!(Axis::new(2, [1, 0, 0, 1]).is_err());
        assert!(Axis::new(2, [1, 1, i64::MAX, 1]).is_err());
    }
}
