//! Windows that slide over the rows and columns of an image.

use core::num::NonZero;

use et_core::{Args, Error, Result, Shape, Tensor};

/// The largest parameter of a window, and the largest window: with sizes below 2^31, offsets stay within 32 bits.
const LARGEST: usize = 1 << 24;

/// How a window slides along one dimension.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// The size of the input.
    pub input: usize,
    /// The number of taps of the window.
    pub kernel: usize,
    /// From one position of the window to the next.
    pub stride: NonZero<usize>,
    /// How far the window reaches out of the input at either end.
    pub padding: usize,
    /// From one tap to the next.
    pub dilation: NonZero<usize>,
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
    pub const ABSENT: Self =
        Self { input: 1, kernel: 1, stride: NonZero::<usize>::MIN, padding: 0, dilation: NonZero::<usize>::MIN };

    /// Checks that a stride, a dilation and a window are at least 1, and that sums of parameters and sizes cannot overflow.
    pub fn new(input: usize, [kernel, stride, padding, dilation]: [usize; 4]) -> Result<Self> {
        let largest = kernel.max(stride).max(padding).max(dilation);
        let reach = kernel.checked_sub(1).and_then(|steps| steps.checked_mul(dilation));
        let fits = largest <= LARGEST && reach.is_some_and(|reach| reach < LARGEST);
        match (NonZero::new(stride), NonZero::new(dilation)) {
            (Some(stride), Some(dilation)) if fits => Ok(Self { input, kernel, stride, padding, dilation }),
            _ => Err(Error::InvalidArgument),
        }
    }

    /// From the first to behind the last tap.
    pub const fn span(&self) -> usize {
        (self.kernel - 1) * self.dilation.get() + 1
    }

    /// The number of positions of the window in the padded input and `extra` elements behind it.
    pub fn outputs(&self, extra: usize) -> Result<usize> {
        let slack = (self.input + 2 * self.padding + extra).checked_sub(self.span());
        slack.map(|slack| slack / self.stride + 1).ok_or(Error::InvalidArgument)
    }

    /// The taps of the window at position `output`.
    pub fn taps(&self, output: usize) -> Taps {
        let origin = output * self.stride.get();
        let first = self.taps_before(self.padding, origin);
        let count = self.taps_before(self.input + self.padding, origin) - first;
        let start = (origin + first * self.dilation.get()).saturating_sub(self.padding);
        Taps { start, first, count }
    }

    /// The number of taps before `end`, counted from the first element of the padding.
    fn taps_before(&self, end: usize, origin: usize) -> usize {
        let distance = end.saturating_sub(origin) + (self.dilation.get() - 1);
        self.kernel.min(distance / self.dilation)
    }

    /// The input index that tap `tap` spreads to `output` when the window writes instead of reads.
    pub fn source(&self, output: usize, tap: usize) -> Option<usize> {
        let distance = (output + self.padding).checked_sub(tap * self.dilation.get())?;
        let source = distance / self.stride;
        (source * self.stride.get() == distance && source < self.input).then_some(source)
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
        let rank = tensor.rank();
        if rank != 3 && rank != 4 {
            return Err(Error::InvalidArgument);
        }
        let mut image = Self { sizes: [1; 4], strides: [0; 4] };
        let slots = image.sizes.iter_mut().zip(&mut image.strides).enumerate();
        let present = slots.filter(|(slot, _)| rank == 4 || *slot != absent);
        for (dim, ((_, (size, step)), stride)) in present.zip(tensor.strides()).enumerate() {
            (*size, *step) = (tensor.size(dim), stride);
        }
        Ok(image)
    }

    /// Calls `visit` with batch, channel, row and column of each pixel.
    pub fn for_each_pixel(&self, mut visit: impl FnMut([usize; 4])) {
        let [batches, channels, rows, columns] = self.sizes;
        for batch in 0..batches {
            for channel in 0..channels {
                for row in 0..rows {
                    (0..columns).for_each(|column| visit([batch, channel, row, column]));
                }
            }
        }
    }

    /// The offset of row 0, column 0 of a channel.
    #[inline]
    pub const fn plane(&self, batch: usize, channel: usize) -> usize {
        batch * self.strides[0] + channel * self.strides[1]
    }

    /// The offset of a pixel.
    #[inline]
    pub const fn offset(&self, [batch, channel, row, column]: [usize; 4]) -> usize {
        self.plane(batch, channel) + self.pixel(row, column)
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

/// A number for rows and one for columns; a list of one number holds for both.
pub fn pair(list: &[i64]) -> Result<[usize; 2]> {
    match *list {
        [both] => natural(both).map(|both| [both; 2]),
        [rows, columns] => Ok([natural(rows)?, natural(columns)?]),
        _ => Err(Error::InvalidArgument),
    }
}

/// Argument `position` as a [`pair`].
pub fn pair_argument(args: &Args<'_, '_>, position: usize) -> Result<[usize; 2]> {
    pair(&args.ints(position)?)
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
        assert_eq!(axis.outputs(0), Ok(2));
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
        assert_eq!(Axis::new(2, [4, 1, 0, 1]).unwrap().outputs(0), Err(Error::InvalidArgument));
        assert!(Axis::new(2, [1, 0, 0, 1]).is_err());
        assert!(Axis::new(2, [1, 1, usize::MAX, 1]).is_err());
    }
}
