//! Kernels of convolution and pooling over images: signals, pictures and volumes.

use core::num::NonZero;
use core::ops::Range;

use et_core::{Args, Error, Result, Shape, Tensor};

/// The largest kernel parameter, and the largest extent of a kernel: with sizes below 2^31, offsets stay within 32
/// bits.
const LARGEST: usize = 1 << 24;

/// The parameters of a convolution or pooling kernel along a dimension.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// The size of the input.
    pub input: usize,
    /// The kernel size.
    pub kernel: usize,
    /// The step between neighbouring placements of the kernel.
    pub stride: NonZero<usize>,
    /// The padding at either end of the input.
    pub padding: usize,
    /// The step between neighbouring kernel positions.
    pub dilation: NonZero<usize>,
}

/// The kernel positions that lie inside the input, for a placement of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taps {
    /// The input index of the first kernel position inside.
    pub start: usize,
    /// The number of the first kernel position inside.
    pub first: usize,
    /// The number of kernel positions inside the input.
    pub count: usize,
}

impl Axis {
    /// A missing dimension.
    pub const ABSENT: Self =
        Self { input: 1, kernel: 1, stride: NonZero::<usize>::MIN, padding: 0, dilation: NonZero::<usize>::MIN };

    /// Checks that stride, dilation and kernel size are at least 1, and that sums of parameters and sizes cannot
    /// overflow.
    pub fn new(input: usize, [kernel, stride, padding, dilation]: [usize; 4]) -> Result<Self> {
        let largest = kernel.max(stride).max(padding).max(dilation);
        let reach = kernel.checked_sub(1).and_then(|steps| steps.checked_mul(dilation));
        let fits = largest <= LARGEST && reach.is_some_and(|reach| reach < LARGEST);
        match (NonZero::new(stride), NonZero::new(dilation)) {
            (Some(stride), Some(dilation)) if fits => Ok(Self { input, kernel, stride, padding, dilation }),
            _ => Err(Error::InvalidArgument),
        }
    }

    /// The extent of the dilated kernel.
    pub const fn span(&self) -> usize {
        (self.kernel - 1) * self.dilation.get() + 1
    }

    /// The number of placements of the kernel in the padded input plus `extra` elements behind the padding.
    pub fn outputs(&self, extra: usize) -> Result<usize> {
        let slack = (self.input + 2 * self.padding + extra).checked_sub(self.span());
        slack.map(|slack| slack / self.stride + 1).ok_or(Error::InvalidArgument)
    }

    /// The kernel positions inside the input at output position `output`.
    pub fn taps(&self, output: usize) -> Taps {
        let origin = output * self.stride.get();
        let first = self.taps_before(self.padding, origin);
        let count = self.taps_before(self.input + self.padding, origin) - first;
        let start = (origin + first * self.dilation.get()).saturating_sub(self.padding);
        Taps { start, first, count }
    }

    /// The number of kernel positions before `end`, counted from the first element of the padding.
    fn taps_before(&self, end: usize, origin: usize) -> usize {
        let distance = end.saturating_sub(origin) + (self.dilation.get() - 1);
        self.kernel.min(distance / self.dilation)
    }

    /// The output positions at which kernel position `tap` may lie inside the input: at earlier outputs it lies before
    /// the start of the input, at later outputs behind the end.
    #[inline]
    pub fn positions_inside(&self, tap: usize) -> Range<usize> {
        let ahead = tap * self.dilation.get();
        let up_to = |end: usize| end.saturating_sub(ahead).div_ceil(self.stride.get());
        up_to(self.padding)..up_to(self.input + self.padding)
    }

    /// The input index under kernel position `tap` at output position `output`, if the index is inside the input.
    #[inline]
    pub fn seen(&self, output: usize, tap: usize) -> Option<usize> {
        let index = (output * self.stride.get() + tap * self.dilation.get()).checked_sub(self.padding)?;
        (index < self.input).then_some(index)
    }

    /// For a transposed convolution: the input index that kernel position `tap` spreads to `output`, if any.
    pub fn source(&self, output: usize, tap: usize) -> Option<usize> {
        let distance = (output + self.padding).checked_sub(tap * self.dilation.get())?;
        let source = distance / self.stride;
        (source * self.stride.get() == distance && source < self.input).then_some(source)
    }
}

/// A tensor as batch, channels, planes, rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct Volume {
    /// The five sizes.
    pub sizes: [usize; 5],
    /// The five strides.
    pub strides: [usize; 5],
}

impl Volume {
    /// A tensor of 1 to 3 spatial dimensions (`dims`) behind its channels, with or without a leading batch dimension. A
    /// missing batch, plane or row dimension has size 1.
    pub fn new(tensor: &Tensor<'_>, dims: usize) -> Result<Self> {
        let rank = tensor.rank();
        if rank != dims + 1 && rank != dims + 2 {
            return Err(Error::InvalidArgument);
        }
        let mut volume = Self { sizes: [1; 5], strides: [0; 5] };
        let slots = volume.sizes.iter_mut().zip(&mut volume.strides).enumerate();
        let present = slots.filter(|(slot, _)| match slot {
            0 => rank == dims + 2,
            1 => true,
            _ => slot + dims >= 5,
        });
        for (dim, ((_, (size, step)), stride)) in present.zip(tensor.strides()).enumerate() {
            (*size, *step) = (tensor.size(dim), stride);
        }
        Ok(volume)
    }

    /// The sizes of planes, rows and columns.
    pub const fn extent(&self) -> [usize; 3] {
        let [_, _, extent @ ..] = self.sizes;
        extent
    }

    /// Calls `visit` with batch, channel, plane, row and column of each pixel.
    pub fn for_each_pixel(&self, mut visit: impl FnMut([usize; 5])) {
        let [batches, channels, planes, rows, columns] = self.sizes;
        if columns == 0 {
            // However many rows there are.
            return;
        }
        for batch in 0..batches {
            for channel in 0..channels {
                for plane in 0..planes {
                    for row in 0..rows {
                        (0..columns).for_each(|column| visit([batch, channel, plane, row, column]));
                    }
                }
            }
        }
    }

    /// The offset of the first pixel of a channel.
    #[inline]
    pub const fn channel(&self, batch: usize, channel: usize) -> usize {
        batch * self.strides[0] + channel * self.strides[1]
    }

    /// The offset of a pixel.
    #[inline]
    pub const fn offset(&self, [batch, channel, plane, row, column]: [usize; 5]) -> usize {
        self.channel(batch, channel) + self.pixel([plane, row, column])
    }

    /// The offset of a pixel in its channel.
    #[inline]
    pub const fn pixel(&self, [plane, row, column]: [usize; 3]) -> usize {
        plane * self.strides[2] + row * self.strides[3] + column * self.strides[4]
    }

    /// The row-major index of a pixel in its channel, regardless of the dim order.
    #[inline]
    pub const fn number(&self, [plane, row, column]: [usize; 3]) -> usize {
        (plane * self.sizes[3] + row) * self.sizes[4] + column
    }
}

/// A number that is not negative.
pub fn natural(value: i64) -> Result<usize> {
    usize::try_from(value).map_err(|_| Error::InvalidArgument)
}

/// A number for each of the last `dims` of planes, rows and columns, 0 for missing dimensions; a list of length 1
/// applies to every dimension.
pub fn per_dim(list: &[i64], dims: usize) -> Result<[usize; 3]> {
    let mut numbers = [0; 3];
    let slots = numbers.iter_mut().skip(3_usize.saturating_sub(dims));
    match *list {
        [all] => natural(all).map(|all| slots.for_each(|slot| *slot = all))?,
        _ if list.len() == dims => {
            slots.zip(list).try_for_each(|(slot, number)| natural(*number).map(|it| *slot = it))?
        }
        _ => return Err(Error::InvalidArgument),
    }
    Ok(numbers)
}

/// Argument `position` [per dimension](per_dim).
pub fn per_dim_argument(args: &Args<'_, '_>, position: usize, dims: usize) -> Result<[usize; 3]> {
    per_dim(&args.ints(position)?, dims)
}

/// The axes of the last `dims` of planes, rows and columns: kernel sizes, strides, paddings and dilations over an image of this
/// extent. The others are [`Axis::ABSENT`].
pub fn axes(extent: [usize; 3], parameters: [[usize; 3]; 4], dims: usize) -> Result<[Axis; 3]> {
    let [kernels, strides, paddings, dilations] = parameters;
    let mut axes = [Axis::ABSENT; 3];
    for dim in 3_usize.saturating_sub(dims)..3 {
        axes[dim] = Axis::new(extent[dim], [kernels[dim], strides[dim], paddings[dim], dilations[dim]])?;
    }
    Ok(axes)
}

/// Adds an innermost dimension of `size`.
pub fn push(shape: &mut Shape, size: usize) -> Result<()> {
    shape.push(i32::try_from(size).map_err(|_| Error::InvalidArgument)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_belong_to_the_last_dimensions() {
        assert_eq!(per_dim(&[7], 2), Ok([0, 7, 7]));
        assert_eq!(per_dim(&[1, 2, 3], 3), Ok([1, 2, 3]));
        assert_eq!(per_dim(&[1, 2], 3), Err(Error::InvalidArgument));
        assert_eq!(per_dim(&[-1], 1), Err(Error::InvalidArgument));
    }

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
