//! Pools.

use et_core::{Plain, Result};
use et_runtime::Listener;

use super::columns::{Pixel, taps_inside};
use super::rows::Rows;
use crate::memory::Operands;
#[cfg(feature = "int16-pools")]
use crate::requantize::shifted_product;
#[cfg(feature = "pools")]
use crate::requantize::{FRACTION, divide_by_power_of_two};
#[cfg(feature = "pools")]
use crate::{Average, Maximum};
#[cfg(feature = "int16-pools")]
use crate::{Average16, Maximum16};
use crate::{Place, Window};

#[cfg(feature = "pools")]
pub fn maximum(step: &Maximum, operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    maxima([step.input, step.output], &step.window, i8::MIN, operands, listener)
}

#[cfg(feature = "int16-pools")]
pub fn maximum16(step: &Maximum16, operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    maxima([step.input, step.output], &step.window, i16::MIN, operands, listener)
}

/// The maxima of windows, at least `least`.
#[inline(always)]
fn maxima<T: Plain + Ord>(
    [input, output]: [Place; 2],
    window: &Window,
    least: T,
    mut operands: Operands<'_, '_>,
    listener: &mut Listener<'_>,
) -> Result<()> {
    let input = operands.read::<T>(input, window.input_len()?)?;
    let output = operands.write::<T>(output, window.output_len()?)?;
    let channels = (window.in_channels as usize).max(1);
    let (mut pixel, mut rows) = (Pixel::default(), Rows::of(window, listener));
    for results in output.chunks_exact_mut(channels) {
        results.fill(least);
        for_each_tap(window, pixel, |place| {
            let elements = input.get(place..).unwrap_or_default();
            for (result, element) in results.iter_mut().zip(elements) {
                *result = (*result).max(*element);
            }
        });
        pixel.advance(window);
        rows.computed(1);
    }
    Ok(())
}

/// Channels that are summed at a time.
const BLOCK: usize = 8;

#[cfg(feature = "pools")]
pub fn average(step: &Average, operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    let result = |sum: i32| step.bounds.clamp(divide_by_power_of_two(step.scale.apply(sum), FRACTION));
    averages::<i8>([step.input, step.output], &step.window, step.input_zero, operands, listener, result)
}

#[cfg(feature = "int16-pools")]
pub fn average16(step: &Average16, operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    let half = (step.divisor / 2) as i32;
    let result = |sum: i32| {
        let half = if sum > 0 { half } else { -half };
        let quotient = sum.wrapping_add(half).checked_div(step.divisor as i32);
        step.limits.clamp(quotient.unwrap_or_else(|| shifted_product(sum.into(), step.multiplier, step.shift)))
    };
    averages::<i16>([step.input, step.output], &step.window, 0, operands, listener, result)
}

/// The results of the sums of windows.
#[inline(always)]
fn averages<T: Plain + Into<i32>>(
    [input, output]: [Place; 2],
    window: &Window,
    zero: i32,
    mut operands: Operands<'_, '_>,
    listener: &mut Listener<'_>,
    finish: impl Fn(i32) -> T,
) -> Result<()> {
    let input = operands.read::<T>(input, window.input_len()?)?;
    let output = operands.write::<T>(output, window.output_len()?)?;
    let channels = (window.in_channels as usize).max(1);
    let (mut pixel, mut rows) = (Pixel::default(), Rows::of(window, listener));
    for results in output.chunks_exact_mut(channels) {
        for (block, results) in results.chunks_mut(BLOCK).enumerate() {
            let mut sums = [0_i32; BLOCK];
            for_each_tap(window, pixel, |place| {
                let elements = input.get(place + block * BLOCK..).unwrap_or_default();
                for (sum, element) in sums.iter_mut().zip(elements) {
                    *sum += (*element).into() - zero;
                }
            });
            for (result, sum) in results.iter_mut().zip(sums) {
                *result = finish(sum);
            }
        }
        pixel.advance(window);
        rows.computed(1);
    }
    Ok(())
}

/// Visits the places of the taps of a pixel inside of the image: the first channel of each.
#[inline(always)]
fn for_each_tap(window: &Window, pixel: Pixel, mut visit: impl FnMut(usize)) {
    let (rows, columns) = taps_inside(window, pixel);
    let image = pixel.image * window.in_height as usize;
    for row in 0..rows.end - rows.first {
        let line = (image + rows.start + row * window.dilation_height as usize) * window.in_width as usize;
        for column in 0..columns.end - columns.first {
            let place = line + columns.start + column * window.dilation_width as usize;
            visit(place * window.in_channels as usize);
        }
    }
}
