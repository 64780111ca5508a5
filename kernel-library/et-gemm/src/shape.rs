//! The shape of a convolution over NHWC or NCHW input; a GEMM is the 1 x 1 case.

use core::ops::Range;

use et_core::{Error, Result};

/// A convolution shape. As a GEMM: M is the number of output pixels, N the output channels per group, K the receptive
/// field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Images (batch size).
    pub batch: usize,
    /// Height and width of an image in pixels.
    pub input: [usize; 2],
    /// Height and width of the output in pixels.
    pub output: [usize; 2],
    /// Channel planes: 1 for NHWC input, the number of channels for NCHW input (then `groups` and `channels` are 1).
    pub planes: usize,
    /// Input channels per group and plane.
    pub channels: usize,
    /// Output channels per group.
    pub columns: usize,
    /// Groups; group `g` reads channels from `g * channels` and writes columns from `g * columns`.
    pub groups: usize,
    /// Pixel stride of the input in elements; at least `groups * channels`.
    pub pixel_stride: usize,
    /// Height and width of the kernel.
    pub kernel: [usize; 2],
    /// Vertical and horizontal stride of the convolution in pixels.
    pub stride: [usize; 2],
    /// Padding in pixels at the top and the left. Positions outside the image read padding on every side.
    pub padding: [usize; 2],
    /// Vertical and horizontal dilation in pixels.
    pub dilation: [usize; 2],
}

impl Shape {
    /// A GEMM of M = `rows`, K = `inner` and N = `columns`, with contiguous rows of A.
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

    /// A convolution of a single NHWC image with a square kernel, equal padding on every side and a single group.
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

    /// M: output pixels of the batch.
    pub const fn rows(&self) -> usize {
        self.batch * self.output[0] * self.output[1]
    }

    /// The same convolution over NCHW input.
    #[must_use]
    pub const fn planar(self) -> Self {
        Self { planes: self.channels, channels: 1, pixel_stride: 1, ..self }
    }

    /// K: multiply-adds per output element.
    pub const fn depth(&self) -> usize {
        self.kernel[0] * self.kernel[1] * self.planes * self.channels
    }

    /// Output channels of every group together.
    pub const fn all_columns(&self) -> usize {
        self.groups * self.columns
    }

    /// Whether the convolution is pointwise with stride 1: row `i` of A is pixel `i` of the input.
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

    /// Splits K into segments that are contiguous in the input.
    pub const fn runs(&self) -> Runs {
        let adjacent = self.pixel_stride == self.channels && self.dilation[1] == 1 && self.kernel[1] > 1;
        if adjacent && self.channels < 16 {
            Runs { count: self.planes * self.kernel[0], length: self.kernel[1] * self.channels, pixels: self.kernel[1] }
        } else {
            Runs { count: self.planes * self.kernel[0] * self.kernel[1], length: self.channels, pixels: 1 }
        }
    }

    /// Elements for the receptive fields of `rows` rows, copied if K segments have several pixels.
    pub(crate) const fn copied(&self, rows: usize) -> usize {
        if self.runs().pixels > 1 { rows * self.depth() } else { 0 }
    }

    /// Elements of the input that the shape spans.
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

    /// Rejects inconsistent shapes, and sizes that overflow.
    pub fn check(&self) -> Result<()> {
        let steps = [self.stride, self.dilation, self.kernel].iter().flatten().all(|&step| step > 0);
        let pixels = self.batch.saturating_mul(self.input[0]).saturating_mul(self.input[1]);
        let fits = self.pixel_stride >= self.groups.saturating_mul(self.channels) || pixels <= 1;
        let pointwise = !self.is_pointwise() || self.input == self.output;
        let planes = self.planes == 1 || (self.planes > 1 && [self.groups, self.channels] == [1, 1]);
        let addressable = self.is_addressable(LARGEST) && self.input_length().is_ok_and(|size| size <= LARGEST);
        let valid = steps && fits && pointwise && planes && self.groups > 0 && addressable;
        if valid { Ok(()) } else { Err(Error::InvalidArgument) }
    }

    /// Whether the sizes that follow from the shape are at most `largest`, so that none wraps around: input, output, packed weights, an
    /// indirection buffer, the rows of a group's A in a strip, coordinates. Shapes come from program files.
    fn is_addressable(&self, largest: usize) -> bool {
        let product = |sizes: &[usize]| sizes.iter().try_fold(1, |product: usize, size| product.checked_mul(*size));
        // Packing pads the K segments of a row and the columns of a group, each to less than 64 more.
        let padded = |size: usize| size.checked_add(PADDING);
        let positions = product(&[self.kernel[0], self.kernel[1], self.planes]);
        let rows = product(&[self.batch, self.output[0], self.output[1]]);
        let sizes = || {
            let (positions, rows) = (positions?, rows?);
            let depth = product(&[positions, padded(self.channels)?]).and_then(padded)?;
            let strip = product(&[rows.min(MOST_ROWS), depth])?;
            let table = product(&[rows, self.groups, positions])?;
            let output = product(&[rows, self.groups, self.columns])?;
            // The transformed weights of Winograd, which one group can have, are at most four times as many.
            let transformed = if positions == 1 || self.groups > 1 { 1 } else { 4 };
            let weights = product(&[self.groups, padded(self.columns)?, depth, transformed])?;
            Some([strip, table, output, weights])
        };
        let coordinate = |axis: usize| {
            let last = product(&[self.output[axis], self.stride[axis]])?;
            let reach = product(&[self.kernel[axis], self.dilation[axis]])?;
            last.checked_add(reach)?.checked_add(self.padding[axis])?.checked_add(self.input[axis])
        };
        let fits = |size: usize| size <= largest;
        sizes().is_some_and(|sizes| sizes.into_iter().all(fits))
            && [coordinate(0), coordinate(1)].iter().all(|size| size.is_some_and(fits))
    }
}

/// K as contiguous segments: a kernel position with its channels, or a kernel row if pixels have fewer than 16
/// channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// K segments per receptive field.
    pub count: usize,
    /// Elements per K segment.
    pub length: usize,
    /// Pixels per K segment.
    pub pixels: usize,
}

impl Runs {
    /// Tiles in a strip (M block): as many as a budget in bytes holds, at least 1.
    pub(crate) fn strip(&self, budget: usize, tile_bytes: usize) -> usize {
        // K segments of several pixels are copied at the borders of the image.
        (budget / tile_bytes).clamp(1, if self.pixels > 1 { 4 } else { STRIP_TILES })
    }
}

/// The maximum number of tiles in a strip.
pub(crate) const STRIP_TILES: usize = 16;

/// More rows than a strip has on any ISA.
const MOST_ROWS: usize = 1 << 12;

/// The largest size that follows from a shape, in elements. An element and its share of headers and pointers take at most 64
/// bytes; at most 8 with 32-bit addresses, where models come close to the bound.
const LARGEST: usize = isize::MAX as usize / if usize::BITS == 32 { 8 } else { 64 };

/// More than packing pads a K segment, a row or a group of columns by.
const PADDING: usize = 64;

/// The largest M for which re-reading A costs less than re-reading B; up to this M, threads split N.
const FEW: usize = 16;

/// The work of a GEMM: M tiles x N panels. Every split produces the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// M.
    pub rows: usize,
    /// Tiles along M.
    pub tiles: usize,
    /// Panels along N, over every group.
    pub panels: usize,
    /// Rows per tile, and the number of leading tiles with an extra row.
    height: usize,
    higher: usize,
}

impl Grid {
    /// Tiles of at most `height` rows, of equal height up to a row.
    pub(crate) const fn new(rows: usize, height: usize, panels: usize) -> Self {
        Self::of_tiles(rows, rows.div_ceil(height), panels)
    }

    /// `tiles` tiles of equal height up to a row.
    pub(crate) const fn of_tiles(rows: usize, tiles: usize, panels: usize) -> Self {
        let some = if tiles == 0 { 1 } else { tiles };
        Self { rows, tiles, panels, height: rows / some, higher: rows % some }
    }

    /// The block that covers the grid.
    pub const fn all(&self) -> Block {
        Block { tiles: [0, self.tiles], panels: [0, self.panels] }
    }

    /// A share of the grid along the dimension that `threads` threads share more evenly: `range` gets the extent of the
    /// dimension. On a tie, a small M is not split, so that each weight is read once.
    pub fn share(&self, threads: usize, range: impl FnOnce(usize) -> Range<usize>) -> Block {
        let longest = self.tiles.div_ceil(threads) * self.panels;
        let widest = self.panels.div_ceil(threads) * self.tiles;
        if longest < widest || (longest == widest && self.rows > FEW) {
            let Range { start, end } = range(self.tiles);
            Block { tiles: [start, end], ..self.all() }
        } else {
            let Range { start, end } = range(self.panels);
            Block { panels: [start, end], ..self.all() }
        }
    }

    /// Part `index` of `whole` parts; may be empty.
    pub fn part(&self, index: usize, whole: usize) -> Block {
        self.share(whole, |count| count * index / whole..count * (index + 1) / whole)
    }

    /// The number of consecutive tiles from `tile` on with equal height.
    pub(crate) const fn equal_from(&self, tile: usize) -> usize {
        if tile < self.higher { self.higher - tile } else { self.tiles - tile }
    }

    /// The rows of a range of tiles.
    pub(crate) const fn rows_of_all(&self, tiles: [usize; 2]) -> Range<usize> {
        if tiles[0] < tiles[1] { self.rows_of(tiles[0]).start..self.rows_of(tiles[1] - 1).end } else { 0..0 }
    }

    /// The rows of a tile.
    pub const fn rows_of(&self, tile: usize) -> Range<usize> {
        let start = tile * self.height + if tile < self.higher { tile } else { self.higher };
        start..start + self.height + (tile < self.higher) as usize
    }
}

/// A block of the grid: half-open ranges of tiles and panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The range of tiles along M.
    pub tiles: [usize; 2],
    /// The range of panels along N.
    pub panels: [usize; 2],
}

impl Block {
    /// Whether the block has no tile or no panel.
    pub const fn is_empty(&self) -> bool {
        self.tiles[0] >= self.tiles[1] || self.panels[0] >= self.panels[1]
    }

    /// Whether the block lies within the grid.
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

    #[test]
    fn a_depthwise_convolution_fits_into_32_bits() {
        let rows = Shape { output: [28, 28], input: [28, 28], ..Shape::product(1, 1, 1) };
        let shape = Shape { groups: 240, pixel_stride: 240, kernel: [5, 5], padding: [2, 2], ..rows };
        assert!(shape.is_addressable(i32::MAX as usize / 8));
    }

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
            Shape { groups: usize::MAX / 4, pixel_stride: usize::MAX, ..shape },
        ] {
            assert_eq!(hostile.check(), Err(Error::InvalidArgument), "{hostile:?}");
        }
    }
}
