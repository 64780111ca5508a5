//! Depthwise convolution of a single `f32` channel: rows of the image, each times a weight, are summed to a row of the
//! output.

use crate::convolutions::picture::Picture;
use crate::family::matrix::Target;
use crate::family::spatial::Axis;
use crate::simd::{Vector, Work, run};

use et_core::Input;

/// The positions that are summed at once, whose sums stay close by.
const SPAN: usize = 64;

/// The depthwise convolution of a channel.
pub struct Channel<'a> {
    /// The elements of the whole input.
    pub elements: Input<'a, f32>,
    /// The offset of the channel.
    pub start: usize,
    /// Sizes and strides of the input.
    pub image: Picture,
    /// The kernel parameters along rows and columns.
    pub axes: [Axis; 2],
    /// The weights of the kernel, row-major.
    pub weights: Input<'a, f32>,
    /// The bias that is added to every sum.
    pub bias: Option<f32>,
    /// The output's rows and columns.
    pub target: Target<'a, f32>,
    /// The number of rows and columns of the output.
    pub sizes: [usize; 2],
}

impl Channel<'_> {
    /// Computes and stores the channel.
    #[inline]
    pub fn compute(self) {
        run(self);
    }
}

impl Work for Channel<'_> {
    #[inline(always)]
    fn run<V: Vector<L>, const L: usize, const R: usize>(self) {
        let [rows, columns] = self.sizes;
        for row in 0..rows {
            for first in (0..columns).step_by(SPAN) {
                let mut sums = [0.0; SPAN];
                let sums = &mut sums[..SPAN.min(columns - first)];
                self.sum(row, first, sums);
                self.store(row, first, sums);
            }
        }
    }
}

impl Channel<'_> {
    #[inline(always)]
    fn sum(&self, row: usize, first: usize, sums: &mut [f32]) {
        let [rows, columns] = &self.axes;
        for row_tap in 0..rows.kernel {
            let Some(source_row) = rows.seen(row, row_tap) else { continue };
            for column_tap in 0..columns.kernel {
                let inside = columns.positions_inside(column_tap);
                let end = first + sums.len();
                let start = inside.start.clamp(first, end);
                let sums = &mut sums[start - first..inside.end.clamp(start, end) - first];
                if !sums.is_empty() {
                    let column = start * columns.stride.get() + column_tap * columns.dilation.get() - columns.padding;
                    let weight = self.weights.get(row_tap * columns.kernel + column_tap);
                    self.add(weight, self.start + self.image.pixel(source_row, column), sums);
                }
            }
        }
    }

    #[inline(always)]
    fn add(&self, weight: f32, start: usize, sums: &mut [f32]) {
        let step = self.axes[1].stride.get() * self.image.strides[3];
        if step == 1 {
            let run = self.elements.window(start, sums.len());
            sums.iter_mut().enumerate().for_each(|(index, sum)| *sum += weight * run.get(index));
        } else {
            let elements = self.elements.window(start, (sums.len() - 1) * step + 1);
            sums.iter_mut().enumerate().for_each(|(index, sum)| *sum += weight * elements.get(index * step));
        }
    }

    #[inline(always)]
    fn store(&self, row: usize, first: usize, sums: &[f32]) {
        let Target { elements, start, steps } = self.target;
        let start = start + row * steps[0] + first * steps[1];
        for (index, sum) in sums.iter().enumerate() {
            elements.set(start + index * steps[1], self.bias.map_or(*sum, |bias| sum + bias));
        }
    }
}
