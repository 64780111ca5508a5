//! Sums of taps, of numbers or of bytes.
#![allow(unsafe_code)] // Tiles are read through pointers; bounds are checked once for a call.

use core::ops::Range;

use et_simd::{Float, Integer, Isa};

use crate::tile::Pixels;
use crate::window::Window;

/// How vectors of some type are read, and added up.
pub trait Product<S: Isa>: Copy {
    /// What tensors have.
    type Number;
    /// A vector of channels of a pixel.
    type Vector: Copy;
    /// A vector of channels of a sum.
    type Sum: Copy;

    /// The numbers of `lanes` channels of a pixel.
    ///
    /// # Safety
    /// They are there.
    unsafe fn read(self, isa: S, from: *const Self::Number, lanes: usize) -> Self::Vector;
    /// The weights of `lanes` channels.
    ///
    /// # Safety
    /// They are there.
    unsafe fn weight(self, isa: S, from: *const Self::Number, lanes: usize) -> Self::Vector;
    /// The sum and a product.
    fn add(self, numbers: Self::Vector, weight: Self::Vector, sum: Self::Sum) -> Self::Sum;
}

/// Products of numbers.
#[derive(Clone, Copy)]
pub struct Numbers;

impl<S: Isa> Product<S> for Numbers {
    type Number = f32;
    type Vector = S::F32;
    type Sum = S::F32;

    #[inline(always)]
    unsafe fn read(self, isa: S, from: *const f32, lanes: usize) -> S::F32 {
        // SAFETY: the caller says so.
        unsafe { if lanes == S::LANES { isa.read(from) } else { isa.read_part(from, lanes) } }
    }
    #[inline(always)]
    unsafe fn weight(self, isa: S, from: *const f32, lanes: usize) -> S::F32 {
        // SAFETY: as above.
        unsafe { Product::<S>::read(self, isa, from, lanes) }
    }
    #[inline(always)]
    fn add(self, numbers: S::F32, weight: S::F32, sum: S::F32) -> S::F32 {
        numbers.mul_add(weight, sum)
    }
}

/// Products of bytes less a zero point, and weights.
#[derive(Clone, Copy)]
pub struct Bytes<V>(pub V);

impl<S: Isa> Product<S> for Bytes<S::I32> {
    type Number = i8;
    type Vector = S::I32;
    type Sum = S::I32;

    #[inline(always)]
    unsafe fn read(self, isa: S, from: *const i8, lanes: usize) -> S::I32 {
        // SAFETY: the caller says so.
        let bytes = unsafe { if lanes == S::LANES { isa.read_i8(from) } else { isa.read_i8_part(from, lanes) } };
        bytes - self.0
    }
    #[inline(always)]
    unsafe fn weight(self, isa: S, from: *const i8, lanes: usize) -> S::I32 {
        // SAFETY: as above.
        unsafe { if lanes == S::LANES { isa.read_i8(from) } else { isa.read_i8_part(from, lanes) } }.words()
    }
    #[inline(always)]
    fn add(self, bytes: S::I32, weight: S::I32, sum: S::I32) -> S::I32 {
        sum + bytes.mul_words(weight)
    }
}

/// What is added up.
#[derive(Clone, Copy)]
pub struct Tensors<'a, T> {
    /// How windows lie on the image.
    pub window: &'a Window,
    /// The channels of the image.
    pub channels: usize,
    /// The image.
    pub input: *const T,
    /// The window's weights.
    pub weights: *const T,
}

/// Adds the taps of `P` pixels to the sums of `N` vectors of channels from `channel` on, or to one of `lanes` channels.
///
/// # Safety
/// The channels are there; the taps of the pixels are within the image.
#[inline(always)]
#[allow(clippy::too_many_arguments)] // How, what, and where.
pub unsafe fn accumulate<S: Isa, A: Product<S>, const P: usize, const N: usize>(
    isa: S,
    product: A,
    tensors: Tensors<A::Number>,
    pixels: &Pixels,
    channel: usize,
    lanes: usize,
    sums: &mut [[A::Sum; N]; P],
) {
    let Window { kernel, stride, dilation, .. } = *tensors.window;
    if let Some(bounds) = pixels.bounds.clone() {
        // SAFETY: what the caller says is what this asks for.
        return unsafe { bounded_taps(isa, product, tensors, pixels, bounds, channel, lanes, sums) };
    }
    // Where pixels share taps and numbers are known, so are the loads that they share.
    // SAFETY: what the caller says is what these ask for.
    unsafe {
        match (P > 1 && dilation[1] == 1, kernel[1], stride[1]) {
            (true, 3, 1) => taps::<S, A, P, N, 3, 1>(isa, product, tensors, pixels, channel, lanes, sums),
            (true, 3, 2) => taps::<S, A, P, N, 3, 2>(isa, product, tensors, pixels, channel, lanes, sums),
            (true, 5, 1) => taps::<S, A, P, N, 5, 1>(isa, product, tensors, pixels, channel, lanes, sums),
            (true, 5, 2) => taps::<S, A, P, N, 5, 2>(isa, product, tensors, pixels, channel, lanes, sums),
            _ => taps::<S, A, P, N, 0, 0>(isa, product, tensors, pixels, channel, lanes, sums),
        }
    }
}

/// With `K` taps in each row, `STRIDE` pixels apart, and pixels that have all of them; or with any taps, if both are 0.
///
/// # Safety
/// As for [`accumulate`].
#[inline(always)]
#[allow(clippy::too_many_arguments)] // As above.
unsafe fn taps<S: Isa, A: Product<S>, const P: usize, const N: usize, const K: usize, const STRIDE: usize>(
    isa: S,
    product: A,
    tensors: Tensors<A::Number>,
    pixels: &Pixels,
    channel: usize,
    lanes: usize,
    sums: &mut [[A::Sum; N]; P],
) {
    let Tensors { window, channels, .. } = tensors;
    let [tap_rows, tap_columns] = pixels.taps.clone();
    if tap_rows.is_empty() || tap_columns.is_empty() {
        return;
    }
    let (count, stride, dilation) = match K {
        0 => (tap_columns.len(), window.stride[1], window.dilation[1]),
        _ => (K, STRIDE, 1),
    };
    let line = window.place(0, pixels.row, tap_rows.start) * window.input[1];
    let first = line + window.place(1, pixels.column, tap_columns.start);
    // SAFETY: the caller says that all taps are there; the pointers advance by a row after each.
    unsafe {
        let mut from = tensors.input.add(first * channels + channel);
        let mut weights =
            tensors.weights.add((tap_rows.start * window.kernel[1] + tap_columns.start) * channels + channel);
        for row in 0..tap_rows.len() {
            if row > 0 {
                from = from.add(window.dilation[0] * window.input[1] * channels);
                weights = weights.add(window.kernel[1] * channels);
            }
            for tap in 0..count {
                for vector in 0..N {
                    let weight = product.weight(isa, weights.add(tap * channels + vector * S::LANES), lanes);
                    for (pixel, sums) in sums.iter_mut().enumerate() {
                        let from = from.add((pixel * stride + tap * dilation) * channels + vector * S::LANES);
                        sums[vector] = product.add(product.read(isa, from, lanes), weight, sums[vector]);
                    }
                }
            }
        }
    }
}

/// Only the taps that are within `bounds`, which differ among the pixels.
///
/// # Safety
/// As for [`accumulate`].
#[inline(always)]
#[allow(clippy::too_many_arguments)] // As above.
unsafe fn bounded_taps<S: Isa, A: Product<S>, const P: usize, const N: usize>(
    isa: S,
    product: A,
    tensors: Tensors<A::Number>,
    pixels: &Pixels,
    bounds: Range<usize>,
    channel: usize,
    lanes: usize,
    sums: &mut [[A::Sum; N]; P],
) {
    let Tensors { window, channels, .. } = tensors;
    let stride = window.stride[1];
    for row in pixels.taps[0].clone() {
        let line = window.place(0, pixels.row, row) * window.input[1] + pixels.column * stride;
        // Before the bounds, the place may be before the image.
        let from = tensors.input.wrapping_add(line * channels + channel).wrapping_sub(window.padding[1] * channels);
        for tap in 0..window.kernel[1] {
            // SAFETY: the weights are there, and within the bounds, the pixels are.
            unsafe {
                let weights = tensors.weights.add((row * window.kernel[1] + tap) * channels + channel);
                let mut vectors = [product.weight(isa, weights, lanes); N];
                for (vector, weight) in vectors.iter_mut().enumerate().skip(1) {
                    *weight = product.weight(isa, weights.add(vector * S::LANES), lanes);
                }
                for (pixel, sums) in sums.iter_mut().enumerate() {
                    let place = pixel * stride + tap;
                    if bounds.contains(&place) {
                        for (vector, (sum, weight)) in sums.iter_mut().zip(vectors).enumerate() {
                            let from = from.wrapping_add(place * channels + vector * S::LANES);
                            *sum = product.add(product.read(isa, from, lanes), weight, *sum);
                        }
                    }
                }
            }
        }
    }
}
