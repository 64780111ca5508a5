//! Pools.

use et_core::Result;
use et_runtime::Listener;

use super::columns::{Pixel, taps_inside};
use super::rows::Rows;
use crate::memory::Operands;
use crate::requantize::{FRACTION, divide_by_power_of_two};
use crate::{Average, Maximum, Window};

pub fn maximum(step: &Maximum, mut operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    let input = operands.read::<i8>(step.input, step.window.input_len()?)?;
    let output = operands.write::<i8>(step.output, step.window.output_len()?)?;
    let channels = (step.window.in_channels as usize).max(1);
    let (mut pixel, mut rows) = (Pixel::default(), Rows::of(&step.window, listener));
    for results in output.chunks_exact_mut(channels) {
        results.fill(i8::MIN);
        for_each_tap(&step.window, pixel, |place| {
            let elements = input.get(place..).unwrap_or_default();
            for (result, element) in results.iter_mut().zip(elements) {
                *result = (*result).max(*element);
            }
        });
        pixel.advance(&step.window);
        rows.computed(1);
    }
    Ok(())
}

/// Channels that are summed at a time.
const BLOCK: usize = 8;

pub fn average(step: &Average, mut operands: Operands<'_, '_>, listener: &mut Listener<'_>) -> Result<()> {
    let input = operands.read::<i8>(step.input, step.window.input_len()?)?;
    let output = operands.write::<i8>(step.output, step.window.output_len()?)?;
    let channels = (step.window.in_channels as usize).max(1);
    let (mut pixel, mut rows) = (Pixel::default(), Rows::of(&step.window, listener));
    for results in output.chunks_exact_mut(channels) {
        for (block, results) in results.chunks_mut(BLOCK).enumerate() {
            let mut sums = [0_i32; BLOCK];
            for_each_tap(&step.window, pixel, |place| {
                let elements = input.get(place + block * BLOCK..).unwrap_or_default();
                for (sum, element) in sums.iter_mut().zip(elements) {
                    *sum += i32::from(*element) - step.input_zero;
                }
            });
            for (result, sum) in results.iter_mut().zip(sums) {
                *result = step.bounds.clamp(divide_by_power_of_two(step.scale.apply(sum), FRACTION));
            }
        }
        pixel.advance(&step.window);
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
