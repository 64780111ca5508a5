//! Geometry of convolution and pooling over NHWC images.

use core::ops::Range;

use et_core::Result;

use crate::check::{ensure, product};

/// Convolution or pooling geometry. Pairs are vertical and horizontal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Input height and width in pixels.
    pub input: [usize; 2],
    /// Output height and width in pixels.
    pub output: [usize; 2],
    /// Kernel height and width.
    pub kernel: [usize; 2],
    /// Strides in pixels.
    pub stride: [usize; 2],
    /// Padding at the top and the left. Padding at the bottom and the right follows from the output size.
    pub padding: [usize; 2],
    /// Dilations in pixels.
    pub dilation: [usize; 2],
}

/// An NHWC image, and output rows of pooling or a depthwise convolution: both have the same channels.
#[derive(Debug)]
pub struct Image<'a, T> {
    /// The geometry.
    pub window: &'a Window,
    /// The channels of input and output.
    pub channels: usize,
    /// The image `[rows, columns, channels]`.
    pub input: &'a [T],
    /// The output rows to compute.
    pub rows: Range<usize>,
    /// The elements of these output rows.
    pub output: &'a mut [T],
}

impl<T> Image<'_, T> {
    /// Fails unless the sizes are positive and without overflow, and the lengths of input and output match.
    pub(crate) fn check(&self) -> Result<()> {
        let Window { input, output, kernel, stride, padding, dilation } = *self.window;
        ensure([kernel, stride, dilation].iter().flatten().all(|size| *size > 0))?;
        for axis in 0..2 {
            let reach = product(&[output[axis], stride[axis]])?.checked_add(product(&[kernel[axis], dilation[axis]])?);
            ensure(reach.is_some() && isize::try_from(padding[axis]).is_ok())?;
        }
        ensure(product(&[input[0], input[1], self.channels])? == self.input.len())?;
        ensure(self.rows.start <= self.rows.end && self.rows.end <= output[0])?;
        ensure(product(&[self.rows.len(), output[1], self.channels])? == self.output.len())
    }

    /// Fails unless there are weights `[rows, columns, channels]` of the kernel, and a bias per channel.
    pub(crate) fn check_weights(&self, weights: usize, bias: usize) -> Result<()> {
        let [rows, columns] = self.window.kernel;
        ensure(product(&[rows, columns, self.channels])? == weights && self.channels == bias)
    }
}

impl Window {
    /// The kernel positions of output `index` that are within the image.
    #[inline(always)]
    pub(crate) fn taps(&self, axis: usize, index: usize) -> Range<usize> {
        let (start, dilation) = (index * self.stride[axis], self.dilation[axis]);
        let first = self.padding[axis].saturating_sub(start).div_ceil(dilation);
        let end = (self.input[axis] + self.padding[axis]).saturating_sub(start).div_ceil(dilation);
        let end = end.min(self.kernel[axis]);
        first.min(end)..end
    }

    /// The input coordinate of a kernel position, which must be in [`Self::taps`].
    #[inline(always)]
    pub(crate) fn place(&self, axis: usize, index: usize, tap: usize) -> usize {
        index * self.stride[axis] + tap * self.dilation[axis] - self.padding[axis]
    }

    /// The outputs whose receptive fields lie within the image.
    #[inline(always)]
    pub(crate) fn inner(&self, axis: usize) -> Range<usize> {
        let stride = self.stride[axis];
        let first = self.padding[axis].div_ceil(stride);
        let reach = (self.kernel[axis] - 1) * self.dilation[axis];
        let end = (self.input[axis] + self.padding[axis]).checked_sub(reach + 1).map_or(0, |last| last / stride + 1);
        let end = end.min(self.output[axis]);
        first.min(end)..end
    }
}

#[cfg(test)]
pub(crate) mod test {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    /// Geometries of many kinds, some with kernels larger than the image.
    pub fn windows() -> Vec<Window> {
        let sizes = [
            (7, 3, 1, 1, 1),
            (17, 3, 2, 1, 1),
            (8, 5, 2, 2, 1),
            (2, 5, 1, 2, 1),
            (9, 3, 1, 2, 2),
            (1, 1, 1, 3, 1),
            (4, 5, 2, 2, 1),
            (5, 7, 1, 3, 1),
        ];
        sizes.map(window).into()
    }

    fn window((size, kernel, stride, padding, dilation): (usize, usize, usize, usize, usize)) -> Window {
        let output = (size + 2 * padding).saturating_sub((kernel - 1) * dilation + 1) / stride + 1;
        Window {
            input: [size + 1, size],
            output: [output, output],
            kernel: [kernel; 2],
            stride: [stride; 2],
            padding: [padding; 2],
            dilation: [dilation; 2],
        }
    }

    /// Geometries that exceed the scratch memory of the kernels, with various strides and dilations.
    pub fn large_windows() -> Vec<Window> {
        let sizes = [
            (35, 5, 1, 2, 1),
            (41, 5, 2, 2, 1),
            (39, 3, 3, 1, 1),
            (37, 5, 4, 2, 3),
            (33, 15, 1, 7, 2),
            (12, 3, 2, 1, 2),
        ];
        let wide = Window { input: [3, 700], output: [2, 350], ..window((1, 3, 2, 1, 1)) };
        sizes.map(window).into_iter().chain([wide]).collect()
    }

    /// The result of `field` for each output element, from the kernel positions within the image: the indices of a weight
    /// `[rows, columns, channels]` and of an input element.
    pub fn plain<R>(window: &Window, channels: usize, field: impl Fn(usize, &[(usize, usize)]) -> R) -> Vec<R> {
        let place = |axis: usize, index: usize, tap: usize| {
            let place = index * window.stride[axis] + tap * window.dilation[axis];
            place.checked_sub(window.padding[axis]).filter(|place| *place < window.input[axis])
        };
        let pair = |pixel: usize, tap: usize| {
            let row = place(0, pixel / window.output[1], tap / window.kernel[1])?;
            let column = place(1, pixel % window.output[1], tap % window.kernel[1])?;
            Some((tap, row * window.input[1] + column))
        };
        let element = |(pixel, channel): (usize, usize)| {
            let taps = (0..window.kernel[0] * window.kernel[1]).filter_map(|tap| pair(pixel, tap));
            let indices = taps.map(|(tap, pixel)| (tap * channels + channel, pixel * channels + channel));
            field(channel, &indices.collect::<Vec<_>>())
        };
        let pixels = 0..window.output[0] * window.output[1];
        pixels.flat_map(|pixel| (0..channels).map(move |channel| (pixel, channel))).map(element).collect()
    }

    /// The output elements, computed by `run` in two parts of rows.
    pub fn in_parts<T: Copy>(
        window: &Window,
        channels: usize,
        input: &[T],
        filler: T,
        run: impl Fn(Image<'_, T>) -> Result<()>,
    ) -> Vec<T> {
        let [height, row] = [window.output[0], window.output[1] * channels];
        let mut whole = vec![filler; height * row];
        let (first, last) = whole.split_at_mut(height / 2 * row);
        for (rows, output) in [(0..height / 2, first), (height / 2..height, last)] {
            run(Image { window, channels, input, rows, output }).unwrap();
        }
        whole
    }

    #[test]
    fn taps_are_within_the_image() {
        for window in windows() {
            let [size, output] = [window.input[1], window.output[1]];
            let [kernel, stride] = [window.kernel[1], window.stride[1]];
            let [padding, dilation] = [window.padding[1], window.dilation[1]];
            for index in 0..output {
                let place = |tap: usize| (index * stride + tap * dilation).checked_sub(padding);
                let inside = |tap: &usize| place(*tap).is_some_and(|place| place < size);
                let expected: Vec<usize> = (0..kernel).filter(inside).collect();
                assert_eq!(window.taps(1, index).collect::<Vec<_>>(), expected, "{window:?} {index}");
                assert_eq!(window.inner(1).contains(&index), expected.len() == kernel, "{window:?} {index}");
                assert!(expected.iter().all(|tap| Some(window.place(1, index, *tap)) == place(*tap)));
            }
        }
    }
}
