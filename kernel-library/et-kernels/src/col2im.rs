//! The second half of a transposed convolution: adds up the columns that a GEMM made of each input pixel, at the output pixels that the
//! kernel positions reach (`col2im`).

use core::ops::Range;

use et_core::Result;
use et_simd::{Activation, ActivationLoop, Formula, Level, Simd, Work};

use crate::check::{ensure, product};

/// A spatial dimension of a transposed convolution.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// The size of the input.
    pub input: usize,
    /// The size of the output.
    pub output: usize,
    /// The size of the kernel.
    pub kernel: usize,
    /// Output positions from an input position to the next.
    pub stride: usize,
    /// Output positions that are cut off at the front.
    pub padding: usize,
    /// Output positions from a kernel position to the next.
    pub dilation: usize,
}

/// The columns of a transposed convolution over NDHWC images.
#[derive(Clone, Copy, Debug)]
pub struct Col2im<'a> {
    /// Depth, height and width.
    pub axes: [Axis; 3],
    /// Groups of channels.
    pub groups: usize,
    /// Output channels of a group.
    pub channels: usize,
    /// The columns, `[input pixels, groups, kernel positions, channels]`.
    pub columns: &'a [f32],
    /// The bias, `[groups * channels]`.
    pub bias: Option<&'a [f32]>,
    /// The activation of the sums.
    pub activation: Activation,
}

impl Axis {
    fn check(&self) -> Result<()> {
        let reach = product(&[self.kernel, self.dilation])?.checked_add(product(&[self.input, self.stride])?);
        let padded = self.output.checked_add(self.padding);
        ensure(self.kernel > 0 && self.stride > 0 && self.dilation > 0 && reach.is_some() && padded.is_some())
    }

    /// The input position of which kernel position `tap` reaches an output position.
    const fn source(&self, output: usize, tap: usize) -> Option<usize> {
        match (output + self.padding).checked_sub(tap * self.dilation) {
            Some(reached) if reached % self.stride == 0 && reached / self.stride < self.input => {
                Some(reached / self.stride)
            }
            _ => None,
        }
    }
}

impl Col2im<'_> {
    /// Elements of an output line.
    fn line(&self) -> Result<usize> {
        product(&[self.axes[2].output, self.groups, self.channels])
    }

    /// Elements of the columns of an input line.
    fn line_of_columns(&self) -> Result<usize> {
        let [depth, height, width] = self.axes;
        product(&[width.input, self.groups, depth.kernel, height.kernel, width.kernel, self.channels])
    }
}

/// Computes a range of output lines, which are counted across depth and batch.
#[inline]
pub fn col2im(level: Level, work: &Col2im<'_>, lines: Range<usize>, output: &mut [f32]) -> Result<()> {
    work.axes.iter().try_for_each(Axis::check)?;
    let [depth, height, _] = work.axes;
    let image = product(&[work.line_of_columns()?, depth.input, height.input])?;
    let per_image = product(&[depth.output, height.output])?;
    ensure(image > 0 && per_image > 0 && work.columns.len().is_multiple_of(image) && lines.start <= lines.end)?;
    ensure(lines.end <= product(&[work.columns.len() / image, per_image])?)?;
    ensure(output.len() == product(&[lines.len(), work.line()?])?)?;
    ensure(work.bias.is_none_or(|bias| bias.len() == work.groups * work.channels))?;
    level.run(Lines { work, image, lines, output });
    Ok(())
}

struct Lines<'a> {
    work: &'a Col2im<'a>,
    /// Elements of the columns of an image.
    image: usize,
    lines: Range<usize>,
    output: &'a mut [f32],
}

impl Work for Lines<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, isa: S) {
        let Self { work, image, lines, output } = self;
        let [depth, height, width] = work.axes;
        let pixel = work.groups * work.channels;
        let columns = width.input * pixel * depth.kernel * height.kernel * width.kernel;
        for (number, line) in lines.zip(output.chunks_exact_mut((width.output * pixel).max(1))) {
            fill(line, work.bias, pixel);
            let (index, y) = (number / height.output, number % height.output);
            let (index, z) = (index / depth.output, index % depth.output);
            for taps in 0..depth.kernel * height.kernel {
                let sources = (depth.source(z, taps / height.kernel), height.source(y, taps % height.kernel));
                let (Some(z), Some(y)) = sources else { continue };
                let start = index * image + (z * height.input + y) * columns;
                work.add_line(isa, line, &work.columns[start..start + columns], taps * width.kernel);
            }
            work.activation.specialize(Finish { isa, line });
        }
    }
}

impl Col2im<'_> {
    /// Adds the columns of an input line, of the kernel positions of a kernel row from `first` on.
    #[inline(always)]
    fn add_line<S: Simd>(&self, isa: S, line: &mut [f32], columns: &[f32], first: usize) {
        let (width, channels, pixel) = (self.axes[2], self.channels, self.groups * self.channels);
        let taps = self.axes[0].kernel * self.axes[1].kernel * width.kernel;
        // Neighbouring kernel positions reach neighbouring pixels, so that all of a row are added at once.
        let together = if self.groups == 1 && width.dilation == 1 { width.kernel } else { 1 };
        for group in 0..self.groups {
            for tap in (0..width.kernel).step_by(together) {
                let own = (group * taps + first + tap) * channels;
                for (x, column) in columns.chunks_exact(taps * pixel).enumerate() {
                    let left = x * width.stride + tap * width.dilation;
                    let cut = width.padding.saturating_sub(left).min(together);
                    let end = (width.output + width.padding).saturating_sub(left).min(together);
                    if cut < end {
                        let to = (left + cut - width.padding) * pixel + group * channels;
                        let from = &column[own + cut * channels..own + end * channels];
                        add(isa, &mut line[to..to + from.len()], from);
                    }
                }
            }
        }
    }
}

/// Gives every pixel of a line the bias.
#[inline(always)]
fn fill(line: &mut [f32], bias: Option<&[f32]>, pixel: usize) {
    let Some(bias) = bias else { return line.fill(0.0) };
    let mut done = pixel.min(line.len());
    line[..done].copy_from_slice(&bias[..done]);
    // Copies of twice the length each time: a pixel may have a single channel.
    while done < line.len() {
        let count = done.min(line.len() - done);
        line.copy_within(..count, done);
        done += count;
    }
}

#[inline(always)]
fn add<S: Simd>(isa: S, to: &mut [f32], from: &[f32]) {
    for at in (0..from.len()).step_by(S::LANES) {
        isa.store(to, at, isa.load(to, at) + isa.load(from, at));
    }
}

/// Applies the activation to a line.
struct Finish<'a, S> {
    isa: S,
    line: &'a mut [f32],
}

impl<S: Simd> ActivationLoop for Finish<'_, S> {
    #[inline(always)]
    fn run<F: Formula>(self, formula: F) {
        for at in (0..self.line.len()).step_by(S::LANES) {
            let sums = self.isa.load(self.line, at);
            self.isa.store(self.line, at, formula.apply(self.isa, sums));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::test::{check, numbers};

    const ONE: Axis = Axis { input: 1, output: 1, kernel: 1, stride: 1, padding: 0, dilation: 1 };

    fn axis(input: usize, kernel: usize, stride: usize, padding: usize, dilation: usize) -> Axis {
        let output = (input - 1) * stride + dilation * (kernel - 1) + 1 - 2 * padding;
        Axis { input, output, kernel, stride, padding, dilation }
    }

    /// Scatters each column to the pixel that its kernel position reaches.
    fn expected(work: &Col2im<'_>, batch: usize) -> Vec<f64> {
        let [depth, height, width] = work.axes;
        let pixel = work.groups * work.channels;
        let lines = batch * depth.output * height.output;
        let mut sums: Vec<f64> = (0..lines * width.output * pixel)
            .map(|at| work.bias.map_or(0.0, |bias| f64::from(bias[at % pixel])))
            .collect();
        let reached = |axis: Axis, input: usize, tap: usize| {
            let at = (input * axis.stride + tap * axis.dilation).checked_sub(axis.padding)?;
            (at < axis.output).then_some(at)
        };
        for (at, number) in work.columns.iter().enumerate() {
            let (rest, channel) = (at / work.channels, at % work.channels);
            let (rest, kx) = (rest / width.kernel, rest % width.kernel);
            let (rest, ky) = (rest / height.kernel, rest % height.kernel);
            let (rest, kz) = (rest / depth.kernel, rest % depth.kernel);
            let (rest, group) = (rest / work.groups, rest % work.groups);
            let (rest, x) = (rest / width.input, rest % width.input);
            let (rest, y) = (rest / height.input, rest % height.input);
            let (image, z) = (rest / depth.input, rest % depth.input);
            let place = (reached(depth, z, kz), reached(height, y, ky), reached(width, x, kx));
            if let (Some(z), Some(y), Some(x)) = place {
                let line = (image * depth.output + z) * height.output + y;
                sums[(line * width.output + x) * pixel + group * work.channels + channel] += f64::from(*number);
            }
        }
        sums
    }

    #[test]
    fn each_column_is_added_where_its_kernel_position_reaches() {
        for (axes, groups, channels) in [
            ([ONE, ONE, axis(5, 4, 2, 1, 1)], 1, 3),
            ([ONE, axis(3, 3, 2, 1, 1), axis(4, 2, 2, 0, 1)], 1, 17),
            ([ONE, axis(4, 3, 1, 2, 2), axis(3, 3, 3, 1, 2)], 2, 9),
            ([axis(2, 3, 2, 1, 1), axis(3, 2, 1, 0, 1), axis(3, 3, 2, 1, 1)], 1, 4),
        ] {
            let taps: usize = axes.iter().map(|axis| axis.kernel * axis.input).product();
            let (columns, bias) = (numbers(2 * taps * groups * channels, 1), numbers(groups * channels, 2));
            let bias = (groups == 1).then_some(&bias[..]);
            let work = Col2im { axes, groups, channels, columns: &columns, bias, activation: Activation::None };
            let lines = 2 * axes[0].output * axes[1].output;
            check("sums", &expected(&work, 2), 1e-6, |level, output| col2im(level, &work, 0..lines, output));
        }
    }

    #[test]
    fn the_activation_is_applied_to_the_sums() {
        let axes = [ONE, ONE, axis(2, 3, 1, 0, 1)];
        let columns = [1.0, -2.0, 3.0, 1.0, -4.0, 0.5];
        let work = Col2im { axes, groups: 1, channels: 1, columns: &columns, bias: None, activation: Activation::RELU };
        let mut output = [9.0; 4];
        col2im(Level::Portable, &work, 0..1, &mut output).unwrap();
        assert_eq!(output, [1.0, 0.0, 0.0, 0.5]);
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        let axes = [ONE, ONE, axis(2, 3, 1, 0, 1)];
        let refused = |axes: [Axis; 3], columns: usize, lines: usize| {
            let columns = std::vec![0.0; columns];
            let work =
                Col2im { axes, groups: 1, channels: 1, columns: &columns, bias: None, activation: Activation::None };
            col2im(Level::Portable, &work, 0..lines, &mut [0.0; 4]).is_err()
        };
        assert!(!refused(axes, 6, 1) && refused(axes, 5, 1) && refused(axes, 6, 2) && refused(axes, 0, 1));
        let huge = Axis { stride: usize::MAX, ..axes[2] };
        assert!(refused([ONE, ONE, huge], 6, 1) && refused([ONE, ONE, Axis { stride: 0, ..axes[2] }], 6, 1));
    }
}
