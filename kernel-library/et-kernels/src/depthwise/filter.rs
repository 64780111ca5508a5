//! Weights, bias and epilogue of depthwise convolution.
#![allow(unsafe_code)] // Reads and writes through pointers that the loops vouch for.

use et_simd::{Activation, Bytes, Clamp, Dot, Float, Formula, HardSwish, Identity, Integer, Simd};

use super::PIXELS;
use super::lines::{Channels, lanes};
use crate::quantized::Rescale;
use crate::receptive_fields::Reduction;
use crate::rows::MOST_LANES;

/// Weights, bias and activation.
#[derive(Clone, Copy)]
pub struct FloatFilter<'a> {
    /// The weights.
    pub weights: &'a [f32],
    /// The bias.
    pub bias: &'a [f32],
    /// The activation.
    pub activation: Activation,
}

impl FloatFilter<'_> {
    /// Stores a row of pixels, `step` elements apart, after the activation.
    ///
    /// # Safety
    /// `to` has room for a vector of each pixel.
    #[inline(always)]
    pub unsafe fn store_row<S: Simd>(self, isa: S, sums: [S::F32; PIXELS], to: *mut f32, step: usize) {
        // The activation is selected once, outside the loop over pixels.
        // SAFETY: the caller upholds the contract of the function.
        unsafe {
            match self.activation {
                Activation::Clamp(least, most) => store(isa, sums, Clamp(least, most), to, step),
                Activation::HardSwish => store(isa, sums, HardSwish, to, step),
                _ => store(isa, sums, Identity, to, step),
            }
        }
    }
}

/// # Safety
/// As for [`FloatFilter::store_row`].
#[inline(always)]
unsafe fn store<S: Simd>(isa: S, sums: [S::F32; PIXELS], formula: impl Formula, to: *mut f32, step: usize) {
    for (pixel, sum) in sums.into_iter().enumerate() {
        // SAFETY: the caller guarantees room for the pixels.
        unsafe { isa.write(to.wrapping_add(pixel * step), formula.apply(isa, sum)) };
    }
}

/// The sum of products, for geometries outside [`super::pairs`].
impl Reduction for FloatFilter<'_> {
    type Element = f32;
    type Sum<S: Simd> = S::F32;

    #[inline(always)]
    fn start<S: Simd>(self, isa: S, channel: usize) -> S::F32 {
        isa.load(self.bias, channel)
    }
    #[inline(always)]
    unsafe fn add<S: Simd>(self, isa: S, sum: S::F32, from: *const f32, weight: usize, lanes: usize) -> S::F32 {
        // SAFETY: the caller guarantees elements and weights. The same argument holds for the method below.
        unsafe {
            let weights = isa.read_some(self.weights.as_ptr().add(weight), lanes);
            isa.read_some(from, lanes).mul_add(weights, sum)
        }
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(self, isa: S, sum: S::F32, _: usize, to: *mut f32, lanes: usize) {
        let number = match self.activation {
            Activation::Clamp(least, most) => Clamp(least, most).apply(isa, sum),
            Activation::HardSwish => HardSwish.apply(isa, sum),
            _ => sum,
        };
        // SAFETY: as above.
        unsafe { isa.write_some(to, lanes, number) }
    }
}

/// Requantization of the accumulators.
#[derive(Clone, Copy, Debug)]
pub struct Requantization<'a> {
    /// Per-channel scale: input scale times weight scale, divided by the output scale unless `hardswish` is set.
    pub scale: &'a [f32],
    /// The output zero point.
    pub zero_point: i32,
    /// The output bounds of a fused activation.
    pub range: [i8; 2],
    /// The reciprocal output scale, if hard swish (`x * clamp(x + 3, 0, 6) / 6`) is applied before requantization.
    pub hardswish: Option<f32>,
}

/// Weights, bias and requantization.
#[derive(Clone, Copy)]
pub struct Int8Filter<'a> {
    /// The input zero point.
    pub zero_point: i8,
    /// The weights.
    pub weights: &'a [i8],
    /// The bias.
    pub bias: &'a [i32],
    /// The requantization.
    pub requantization: Requantization<'a>,
}

impl Int8Filter<'_> {
    /// The bias of `lanes` channels: the initial accumulators.
    #[inline(always)]
    pub fn start<S: Simd>(self, isa: S, channel: usize, lanes: usize) -> S::I32 {
        let all = self.bias.get(channel..).unwrap_or_default();
        // SAFETY: `all` has a vector of elements, or `bias` has 16, at least the lanes of any ISA.
        unsafe {
            if lanes == S::LANES && all.len() >= lanes {
                return isa.read_i32(all.as_ptr());
            }
            let mut bias = [0; MOST_LANES];
            for (to, from) in bias.iter_mut().zip(all) {
                *to = *from;
            }
            isa.read_i32(bias.as_ptr())
        }
    }

    /// Requantizes and stores the first `count` of `P` pixels from `to` on.
    ///
    /// # Safety
    /// `to` has room for the channels of each pixel.
    #[inline(always)]
    pub unsafe fn store<D: Dot, const P: usize>(
        self,
        channels: &Channels<'_, D>,
        sums: [Bytes<D>; P],
        count: usize,
        to: *mut i8,
    ) {
        let isa = channels.dot.isa();
        let Requantization { scale, zero_point, range, hardswish } = self.requantization;
        let rescale = Rescale::new(isa, 1.0, zero_point, range);
        let scale = isa.load(scale, channels.first);
        let mut bytes = sums;
        if let Some(inverse) = hardswish {
            for bytes in &mut bytes {
                let number = HardSwish.apply(isa, bytes.to_float() * scale);
                *bytes = rescale.bytes(number * isa.splat(inverse));
            }
        } else {
            for bytes in &mut bytes {
                *bytes = rescale.bytes(bytes.to_float() * scale);
            }
        }
        let pixel = |index: usize| to.wrapping_add(index * channels.all);
        // SAFETY: the caller guarantees room for the pixels.
        unsafe {
            if count >= P && channels.lanes == lanes::<D>() {
                for (index, bytes) in bytes.into_iter().enumerate() {
                    isa.write_i8(pixel(index), bytes);
                }
                return;
            }
            for (index, bytes) in bytes.into_iter().enumerate() {
                if index < count {
                    isa.write_i8_part(pixel(index), channels.lanes, bytes);
                }
            }
        }
    }
}

/// The products of the zero point and weights, which padding and every element contribute.
#[inline(always)]
pub fn of_zero_point<D: Dot>(channels: &Channels<'_, D>, weights: Bytes<D>) -> Bytes<D> {
    let mut vector = channels.empty();
    for _ in 0..D::TAPS {
        // SAFETY: the array has 16 elements, at least the lanes of any ISA.
        vector = unsafe { channels.dot.shift_in(vector, [channels.padding.as_ptr()]) };
    }
    channels.dot.add_products(channels.empty(), vector, weights)
}
