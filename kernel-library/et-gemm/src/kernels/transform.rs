//! Winograd transforms F(2x2, 3x3): 2 x 2 output pixels with 16 multiplications instead of 36 (Lavin and Gray, "Fast
//! Algorithms for Convolutional Neural Networks", 2015, section 4.1).
#![allow(unsafe_code, reason = "pixels and matrices are read and written by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is an inner loop under the contract of its argument")]

use et_simd::{Float, Simd, math};

/// Points of a transformed 4 x 4 input tile.
pub const POINTS: usize = 16;

/// The point that contributes to all four output pixels: the bias goes there.
pub const CENTRE: usize = 5;

/// A 4 x 4 input tile to transform.
///
/// # Safety
///
/// Each pixel is valid for `channels` elements, and `to` is valid for `channels` elements at each multiple of `step`
/// below [`POINTS`].
pub struct Window {
    /// The pixels in row-major order.
    pub pixels: [*const f32; POINTS],
    /// Channels per pixel.
    pub channels: usize,
    /// The first point.
    pub to: *mut f32,
    /// Elements from a point to the next.
    pub step: usize,
}

/// A 2 x 2 output tile.
///
/// # Safety
///
/// `from` is valid for `columns` elements at each multiple of `step` below [`POINTS`]; each non-null pixel and residual
/// is valid for `columns` elements.
pub struct Pixels {
    /// The first point.
    pub from: *const f32,
    /// Elements from a point to the next.
    pub step: usize,
    /// Output channels per pixel.
    pub columns: usize,
    /// The pixels in row-major order; null outside the image.
    pub to: [*mut f32; 4],
    /// The residual of each pixel, or null.
    pub residuals: [*const f32; 4],
    /// Whether the residual is added after the clamp.
    pub residual_last: bool,
    /// The clamp of the output.
    pub bounds: [f32; 2],
}

/// Transforms the weights of a 3 x 3 kernel.
pub fn weights(taps: [f32; 9]) -> [f32; POINTS] {
    let lines = [[0, 1, 2], [3, 4, 5], [6, 7, 8]].map(|line| spread(line.map(|tap: usize| f64::from(taps[tap]))));
    let columns: [[f64; 4]; 4] = core::array::from_fn(|column| spread(lines.map(|line| line[column])));
    core::array::from_fn(|point| columns[point % 4][point / 4] as f32)
}

fn spread([first, middle, last]: [f64; 3]) -> [f64; 4] {
    let (even, odd) = ((first + last) / 2.0, middle / 2.0);
    [first, even + odd, even - odd, last]
}

/// Transforms an input tile.
///
/// # Safety
///
/// The CPU has the ISA of `S`, and the contract of [`Window`] holds.
#[inline(always)]
pub unsafe fn input<S: Simd>(window: &Window) {
    let isa = S::assume();
    let mut channel = 0;
    while channel < window.channels {
        let count = (window.channels - channel).min(S::LANES);
        // Unrolled by hand: an array indexed in a loop would be spilled to the stack.
        let at = |index: usize| isa.read_part(window.pixels[index].add(channel), count);
        let first = differences([at(0), at(4), at(8), at(12)]);
        let second = differences([at(1), at(5), at(9), at(13)]);
        let third = differences([at(2), at(6), at(10), at(14)]);
        let fourth = differences([at(3), at(7), at(11), at(15)]);
        let store = |line: usize, columns: [S::F32; 4]| {
            let to = window.to.add(4 * line * window.step + channel);
            let [a, b, c, d] = differences(columns);
            isa.write_part(to, count, a);
            isa.write_part(to.add(window.step), count, b);
            isa.write_part(to.add(2 * window.step), count, c);
            isa.write_part(to.add(3 * window.step), count, d);
        };
        store(0, [first[0], second[0], third[0], fourth[0]]);
        store(1, [first[1], second[1], third[1], fourth[1]]);
        store(2, [first[2], second[2], third[2], fourth[2]]);
        store(3, [first[3], second[3], third[3], fourth[3]]);
        channel += count;
    }
}

/// The input transform along a dimension.
#[inline(always)]
fn differences<F: Float>([a, b, c, d]: [F; 4]) -> [F; 4] {
    [a - c, b + c, c - b, b - d]
}

/// Transforms points to output pixels, with residual and clamp; other activations run later.
///
/// # Safety
///
/// The CPU has the ISA of `S`, and the contract of [`Pixels`] holds.
#[inline(always)]
pub unsafe fn output<S: Simd>(pixels: &Pixels) {
    let isa = S::assume();
    let mut column = 0;
    while column < pixels.columns {
        let count = (pixels.columns - column).min(S::LANES);
        let at = |index: usize| isa.read_part(pixels.from.add(index * pixels.step + column), count);
        let first = sums([at(0), at(4), at(8), at(12)]);
        let second = sums([at(1), at(5), at(9), at(13)]);
        let third = sums([at(2), at(6), at(10), at(14)]);
        let fourth = sums([at(3), at(7), at(11), at(15)]);
        let [left, right] = sums([first[0], second[0], third[0], fourth[0]]);
        finish(isa, pixels, 0, left, column, count);
        finish(isa, pixels, 1, right, column, count);
        let [left, right] = sums([first[1], second[1], third[1], fourth[1]]);
        finish(isa, pixels, 2, left, column, count);
        finish(isa, pixels, 3, right, column, count);
        column += count;
    }
}

/// The output transform along a dimension.
#[inline(always)]
fn sums<F: Float>([a, b, c, d]: [F; 4]) -> [F; 2] {
    [a + b + c, b - c - d]
}

/// Runs the epilogue of a pixel for `count` output channels.
#[inline(always)]
unsafe fn finish<S: Simd>(isa: S, pixels: &Pixels, index: usize, mut value: S::F32, column: usize, count: usize) {
    let (to, residual) = (pixels.to[index], pixels.residuals[index]);
    if to.is_null() {
        return;
    }
    if !residual.is_null() && !pixels.residual_last {
        value = value + isa.read_part(residual.add(column), count);
    }
    value = math::clamp(isa, value, pixels.bounds[0], pixels.bounds[1]);
    if !residual.is_null() && pixels.residual_last {
        value = value + isa.read_part(residual.add(column), count);
    }
    isa.write_part(to.add(column), count, value);
}
