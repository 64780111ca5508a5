//! The shape of a product: a convolution over channels-last pixels, of which the product of two matrices is a case.

use core::ops::Range;

use et_core::{Error, Result};

/// A convolution of channels-last images. Output pixels are the rows of the product, output channels its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Images.
    pub batch: usize,
    /// Height and width of an image in pixels.
    pub input: [usize; 2],
    /// Height and width of the output in pixels.
    pub output: [usize; 2],
    /// Planes of an image, one after the other: 1, or as many as it has channels, which then lie apart and are of one group.
    pub planes: usize,
    /// Channels of a plane that one group reads.
    pub channels: usize,
    /// Channels that one group writes.
    pub columns: usize,
    /// Groups; group `g` reads channels from `g * channels` and writes columns from `g * columns`.
    pub groups: usize,
    /// Elements from a pixel of the input to the next; at least `groups * channels`.
    pub pixel_stride: usize,
    /// Height and width of the kernel.
    pub kernel: [usize; 2],
    /// Pixels from a window to the next.
    pub stride: [usize; 2],
    /// Pixels of padding above and left of the image. What a window reads beyond the image is padding on all sides.
    pub padding: [usize; 2],
    /// Pixels from a tap of the kernel to the next.
    pub dilation: [usize; 2],
}

impl Shape {
    /// The product of `rows` rows of `inner` elements, one after another, with a matrix of `columns` columns.
    pub const fn product(rows: usize, inner: usize, columns: usize) -> Self {
        Self {
            batch: 1,
            input: [1, rows],
            output: [1, rows],
            planes: 1,
            channels: inner,
            columns,
            groups: 1,
            pixel_stride: inner,
            kernel: [1, 1],
            stride: [1, 1],
            padding: [0, 0],
            dilation: [1, 1],
        }
    }

    /// A convolution of one image with a square kernel, equal padding on all sides, one group.
    pub const fn convolution(
        input: [usize; 2],
        channels: usize,
        columns: usize,
        kernel: usize,
        stride: usize,
        padding: usize,
    ) -> Self {
        let mut output = [0; 2];
        let mut axis = 0;
        while axis < 2 {
            let padded = input[axis] + 2 * padding;
            output[axis] = if padded < kernel { 0 } else { (padded - kernel) / stride + 1 };
            axis += 1;
        }
        Self {
            input,
            output,
            pixel_stride: channels,
            kernel: [kernel, kernel],
            stride: [stride, stride],
            padding: [padding, padding],
            ..Self::product(0, channels, columns)
        }
    }

    /// Rows of the product: output pixels.
    pub const fn rows(&self) -> usize {
        self.batch * self.output[0] * self.output[1]
    }

    /// The same over planes of one channel each.
    #[must_use]
    pub const fn planar(self) -> Self {
        Self { planes: self.channels, channels: 1, pixel_stride: 1, ..self }
    }

    /// Products that are added up for one element of the output.
    pub const fn depth(&self) -> usize {
        self.kernel[0] * self.kernel[1] * self.planes * self.channels
    }

    /// Columns of all groups.
    pub const fn all_columns(&self) -> usize {
        self.groups * self.columns
    }

    /// Whether rows of the product are pixels of the input, in order.
    pub const fn is_pointwise(&self) -> bool {
        self.planes == 1
            && self.kernel[0] == 1
            && self.kernel[1] == 1
            && self.stride[0] == 1
            && self.stride[1] == 1
            && self.padding[0] == 0
            && self.padding[1] == 0
            && self.input[0] == self.output[0]
            && self.input[1] == self.output[1]
    }

    /// How the kernel falls into runs of elements that lie side by side in the input.
    pub const fn runs(&self) -> Runs {
        let adjacent = self.pixel_stride == self.channels && self.dilation[1] == 1 && self.kernel[1] > 1;
        if adjacent && self.channels < 16 {
            Runs { count: self.planes * self.kernel[0], length: self.kernel[1] * self.channels, pixels: self.kernel[1] }
        } else {
            Runs { count: self.planes * self.kernel[0] * self.kernel[1], length: self.channels, pixels: 1 }
        }
    }

    /// Elements of the input that the shape reaches.
    pub(crate) fn input_length(&self) -> Result<usize> {
        let sizes = [self.planes, self.input[0], self.input[1]];
        let pixels = sizes.iter().try_fold(self.batch, |pixels, size| pixels.checked_mul(*size));
        match pixels.ok_or(Error::InvalidArgument)? {
            0 => Ok(0),
            pixels => (pixels - 1)
                .checked_mul(self.pixel_stride)
                .and_then(|last| last.checked_add(self.groups * self.channels))
                .ok_or(Error::InvalidArgument),
        }
    }

    /// Refuses shapes that contradict themselves, and sizes whose products no memory could hold.
    pub fn check(&self) -> Result<()> {
        let steps = [self.stride, self.dilation, self.kernel].iter().flatten().all(|&step| step > 0);
        let pixels = self.batch.saturating_mul(self.input[0]).saturating_mul(self.input[1]);
        let fits = self.pixel_stride >= self.groups.saturating_mul(self.channels) || pixels <= 1;
        let pointwise = !self.is_pointwise() || self.input == self.output;
        let planes = self.planes == 1 || (self.planes > 1 && [self.groups, self.channels] == [1, 1]);
        let valid = steps && fits && pointwise && planes && self.groups > 0 && self.is_addressable();
        if valid { Ok(()) } else { Err(Error::InvalidArgument) }
    }

    /// Whether every size that follows from the shape (the im2col matrix, an indirection buffer, packed weights, input
    /// coordinates) is at most [`LARGEST`], so that no later product of sizes wraps around. Shapes come from program files.
    fn is_addressable(&self) -> bool {
        let product = |sizes: &[usize]| sizes.iter().try_fold(1, |product: usize, size| product.checked_mul(*size));
        // Packing pads the K segments of a row and the columns of a group, each to less than 64 more.
        let padded = |size: usize| size.checked_add(PADDING);
        let depth = product(&[self.kernel[0], self.kernel[1], self.planes])
            .and_then(|positions| product(&[positions, padded(self.channels)?]).and_then(padded));
        let sizes = depth.and_then(|depth| {
            let matrix = product(&[self.batch, self.output[0], self.output[1], self.groups, depth])?;
            let weights = product(&[self.groups, padded(self.columns)?, depth])?;
            Some(matrix.max(weights))
        });
        let coordinate = |axis: usize| {
            let last = product(&[self.output[axis], self.stride[axis]])?;
            let reach = product(&[self.kernel[axis], self.dilation[axis]])?;
            last.checked_add(reach)?.checked_add(self.padding[axis])?.checked_add(self.input[axis])
        };
        [sizes, coordinate(0), coordinate(1)].iter().all(|size| size.is_some_and(|size| size <= LARGEST))
    }
}

/// The kernel as runs of adjacent elements: a tap of all channels, or a row of taps where pixels have few channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// Runs of a window.
    pub count: usize,
    /// Elements of a run.
    pub length: usize,
    /// Pixels of a run.
    pub pixels: usize,
}

/// The largest size that follows from a shape, in elements: an element and its share of headers and pointers take at most
/// 64 bytes.
const LARGEST: usize = isize::MAX as usize / 64;

/// More than packing pads a K segment, a row or a group of columns by.
const PADDING: usize = 64;

/// The most rows that are less to read than the weights that they meet.
const FEW: usize = 16;

/// The work of a product: tiles of rows times panels of columns. Any split of it gives the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Rows of the product.
    pub rows: usize,
    /// Tiles of rows.
    pub tiles: usize,
    /// Panels of columns, of all groups.
    pub panels: usize,
    /// The rows of each tile, and how many of the first ones have a row more.
    height: usize,
    higher: usize,
}

impl Grid {
    /// Tiles of at most `height` rows each, as equal as they can be.
    pub(crate) const fn new(rows: usize, height: usize, panels: usize) -> Self {
        Self::of_tiles(rows, rows.div_ceil(height), panels)
    }

    /// So many tiles, as equal as they can be.
    pub(crate) const fn of_tiles(rows: usize, tiles: usize, panels: usize) -> Self {
        let some = if tiles == 0 { 1 } else { tiles };
        Self { rows, tiles, panels, height: rows / some, higher: rows % some }
    }

    /// The whole work.
    pub const fn all(&self) -> Block {
        Block { tiles: [0, self.tiles], panels: [0, self.panels] }
    }

    /// The dimension that so many threads share more evenly. Where both are the same, few rows are not split, so that each weight is
    /// read once.
    pub const fn axis(&self, threads: usize) -> Axis {
        let longest = self.tiles.div_ceil(threads) * self.panels;
        let widest = self.panels.div_ceil(threads) * self.tiles;
        if longest < widest || (longest == widest && self.rows > FEW) { Axis::Tiles } else { Axis::Panels }
    }

    /// How many there are along a dimension.
    pub const fn count(&self, axis: Axis) -> usize {
        match axis {
            Axis::Tiles => self.tiles,
            Axis::Panels => self.panels,
        }
    }

    /// Those from the first to before the second along a dimension, times all of the other.
    pub const fn block(&self, axis: Axis, part: [usize; 2]) -> Block {
        match axis {
            Axis::Tiles => Block { tiles: part, ..self.all() },
            Axis::Panels => Block { panels: part, ..self.all() },
        }
    }

    /// One of `whole` parts, which may be empty.
    pub const fn part(&self, index: usize, whole: usize) -> Block {
        let axis = self.axis(whole);
        let count = self.count(axis);
        self.block(axis, [count * index / whole, count * (index + 1) / whole])
    }

    /// How many tiles from one on have as many rows.
    pub(crate) const fn equal_from(&self, tile: usize) -> usize {
        if tile < self.higher { self.higher - tile } else { self.tiles - tile }
    }

    /// The rows of a tile.
    pub const fn rows_of(&self, tile: usize) -> Range<usize> {
        let start = tile * self.height + if tile < self.higher { tile } else { self.higher };
        start..start + self.height + (tile < self.higher) as usize
    }
}

/// A dimension of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Tiles of rows.
    Tiles,
    /// Panels of columns.
    Panels,
}

/// Some of the work: tiles from the first to before the second, times panels likewise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Tiles of rows.
    pub tiles: [usize; 2],
    /// Panels of columns.
    pub panels: [usize; 2],
}

impl Block {
    /// Whether there is nothing to do.
    pub const fn is_empty(&self) -> bool {
        self.tiles[0] >= self.tiles[1] || self.panels[0] >= self.panels[1]
    }

    /// Whether it lies in the grid.
    pub(crate) const fn is_in(&self, grid: &Grid) -> bool {
        self.tiles[0] <= self.tiles[1]
            && self.tiles[1] <= grid.tiles
            && self.panels[0] <= self.panels[1]
            && self.panels[1] <= grid.panels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes of a program file whose products wrap around: the number of kernel positions is 2^62.
    #[test]
    fn a_shape_whose_sizes_wrap_around_is_refused() {
        let shape = Shape { dilation: [2, 2], channels: 4, pixel_stride: 4, ..Shape::product(8, 4, 8) };
        assert_eq!(shape.check(), Ok(()));
        for hostile in [
            Shape { kernel: [1 << 31, 1 << 31], ..shape },
            Shape { kernel: [1 << 31, 1 << 31], dilation: [1, 1], ..shape },
            Shape { output: [1 << 31, 1 << 31], batch: 1 << 31, ..shape },
            Shape { columns: usize::MAX - 8, ..shape },
            Shape { stride: [usize::MAX / 2, 4], output: [4, 4], ..shape },
            Shape { padding: [usize::MAX, 0], ..shape },
            Shape { groups: 1 << 62, pixel_stride: usize::MAX, ..shape },
        ] {
            assert_eq!(hostile.check(), Err(Error::InvalidArgument), "{hostile:?}");
        }
    }
}
