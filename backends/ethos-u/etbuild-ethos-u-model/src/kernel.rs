//! Kernels: the pixels of the input that a pixel of the output depends on.

use std::ops::Range;

use crate::fault::Problem;
use crate::registers::{Registers, bits, name};
use crate::volume::{Size, Volume};

/// A kernel along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Elements.
    pub size: usize,
    /// The distance of elements in pixels.
    pub dilation: usize,
    /// The distance of positions in pixels.
    pub stride: usize,
    /// Pixels of padding before the input and after.
    pub padding: [usize; 2],
}

/// A kernel.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Rows.
    pub rows: Axis,
    /// Columns.
    pub columns: Axis,
    /// Whether weights are ordered by parts of the kernel.
    pub is_part_first: bool,
    upscale: Upscale,
}

/// How the input is enlarged to twice the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Upscale {
    None,
    Nearest,
    Zeros,
}

impl Axis {
    /// The pixels of an input that has what a number of positions needs; `None` where padding alone would do.
    fn input(self, output: usize) -> Option<usize> {
        let reach = (output - 1) * self.stride + (self.size - 1) * self.dilation + 1;
        reach.checked_sub(self.padding[0] + self.padding[1]).filter(|size| *size > 0)
    }

    /// The elements of the kernel at a position of the output that are on pixels of the input.
    pub fn inside(self, position: usize, input: usize) -> Range<usize> {
        let start = position * self.stride;
        let first = self.padding[0].saturating_sub(start).div_ceil(self.dilation);
        let end = (input + self.padding[0]).saturating_sub(start).div_ceil(self.dilation);
        first..end.min(self.size).max(first)
    }

    /// The pixel of the input on which an element is.
    pub const fn pixel(self, position: usize, element: usize) -> usize {
        (position * self.stride + element * self.dilation).saturating_sub(self.padding[0])
    }
}

impl Kernel {
    /// The kernel that registers describe.
    pub fn of(registers: &Registers) -> Result<Self, Problem> {
        let word = registers.parameter(name::KERNEL_STRIDE)?;
        if bits(word, 5, 1) != 0 {
            return Err(Problem::Unsupported("decomposition of kernels into 4 by 4 elements"));
        }
        let axis = |size, before, after, [dilation, lower, upper]: [u32; 3]| {
            let dilation = usize::from(bits(word, dilation, 1)) + 1;
            let stride = usize::from(bits(word, lower, 1) | bits(word, upper, 3) << 1) + 1;
            let size = (registers.size(size)? - 1) / dilation + 1;
            let padding = [registers.parameter(before)?, registers.parameter(after)?].map(usize::from);
            Ok(Axis { size, dilation, stride, padding })
        };
        let upscale = match registers.parameter(name::IFM_UPSCALE)? & 3 {
            0 => Upscale::None,
            1 => Upscale::Nearest,
            2 => Upscale::Zeros,
            _ => return Err(Problem::Contradiction("the way of enlarging is none of the NPU")),
        };
        Ok(Self {
            rows: axis(name::KERNEL_HEIGHT_M1, name::IFM_PAD_TOP, name::IFM_PAD_BOTTOM, [4, 1, 9])?,
            columns: axis(name::KERNEL_WIDTH_M1, name::IFM_PAD_LEFT, name::IFM_PAD_RIGHT, [3, 0, 6])?,
            is_part_first: bits(word, 2, 1) != 0,
            upscale,
        })
    }

    /// The rows and columns of the input, enlarged, between the padding.
    pub fn extent(&self, output: Size) -> Result<[usize; 2], Problem> {
        let pixels = |axis: Axis, output| {
            axis.input(output).ok_or(Problem::Contradiction("the padding is larger than the kernel's reach"))
        };
        Ok([pixels(self.rows, output.height)?, pixels(self.columns, output.width)?])
    }

    /// The multiplications of an operation.
    pub fn work(&self, output: Size, inputs: usize) -> Result<u64, Problem> {
        let [height, width] = self.extent(output)?;
        let elements = [self.rows.size.min(height), self.columns.size.min(width), inputs];
        Ok(elements.into_iter().fold(output.elements() as u64, |work, count| work.saturating_mul(count as u64)))
    }

    /// The size of the input in memory.
    pub fn input(&self, output: Size, depth: usize) -> Result<Size, Problem> {
        let factor = if self.upscale == Upscale::None { 1 } else { 2 };
        let [height, width] = self.extent(output)?.map(|pixels| pixels.div_ceil(factor));
        Ok(Size { height, width, depth })
    }

    /// The input that the kernel meets: as in memory, or enlarged.
    pub fn enlarge(&self, input: Volume) -> Volume {
        let Size { height, width, depth } = input.size;
        let size = Size { height: 2 * height, width: 2 * width, depth };
        match self.upscale {
            Upscale::None => input,
            Upscale::Nearest => Volume::of(size, |y, x, channel| input.broadcast(y / 2, x / 2, channel)),
            Upscale::Zeros => {
                Volume::of(
                    size,
                    |y, x, channel| {
                        if y % 2 + x % 2 == 0 { input.broadcast(y / 2, x / 2, channel) } else { 0 }
                    },
                )
            }
        }
    }

    /// Whether there is padding.
    pub const fn has_padding(&self) -> bool {
        let [rows, columns] = [self.rows.padding, self.columns.padding];
        rows[0] + rows[1] + columns[0] + columns[1] != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_on_padding_are_outside() {
        let axis = Axis { size: 3, dilation: 2, stride: 1, padding: [2, 2] };
        assert_eq!(axis.input(5), Some(5));
        let inside: Vec<_> = (0..5).map(|position| axis.inside(position, 5)).collect();
        assert_eq!(inside, [1..3, 1..3, 0..3, 0..2, 0..2]);
        assert_eq!((axis.pixel(0, 1), axis.pixel(4, 1)), (0, 4));
    }
}
