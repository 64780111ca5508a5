//! The border of a partition: float32 to int8 and back, with the change of order between row-major and NHWC images.

use core::cell::Cell;

use et_core::{Error, Result};

#[cfg(feature = "transpose")]
use crate::Transpose;
#[cfg(feature = "int16-transpose")]
use crate::Transpose16;
use crate::memory::Operands;
use crate::{Dequantize, Quantize};
#[cfg(feature = "int16-border")]
use crate::{Dequantize16, Quantize16};

/// Beyond this, every number is clamped.
const MOST: f32 = 1024.0;

/// A sum with this number, `1.5 * 2^23`, rounds numbers below `2^22` to an integer, ties to even: the lowest bits of the sum.
const ROUNDER: f32 = 12_582_912.0;

pub fn quantize(step: &Quantize, operands: Operands<'_, '_>) -> Result<()> {
    let plane = Plane::of(step.images, [step.channels, step.pixels], step.pitch)?;
    let input = operands.cells(step.input, plane.input, false)?;
    let output = operands.cells(step.output, plane.output, true)?;
    plane.convert(input, output, |number: f32| {
        let scaled = (number * step.inverse).clamp(-MOST, MOST) + ROUNDER;
        let integer = scaled.to_bits().wrapping_sub(ROUNDER.to_bits()).cast_signed();
        integer.wrapping_add(step.zero).clamp(-128, 127) as i8
    });
    Ok(())
}

pub fn dequantize(step: &Dequantize, operands: Operands<'_, '_>) -> Result<()> {
    let plane = Plane::of(step.images, [step.pixels, step.channels], step.channels)?;
    let input = operands.cells(step.input, plane.input, false)?;
    let output = operands.cells(step.output, plane.output, true)?;
    plane.convert(input, output, |integer: i8| i32::from(integer).wrapping_sub(step.zero) as f32 * step.scale);
    Ok(())
}

#[cfg(feature = "transpose")]
pub fn transpose(step: &Transpose, operands: Operands<'_, '_>) -> Result<()> {
    let plane = Plane::of(step.images, [step.rows, step.columns], step.pitch)?;
    let input = operands.cells(step.input, plane.input, false)?;
    let output = operands.cells(step.output, plane.output, true)?;
    plane.convert(input, output, |integer: i8| integer);
    Ok(())
}

#[cfg(feature = "int16-border")]
pub fn quantize16(step: &Quantize16, operands: Operands<'_, '_>) -> Result<()> {
    let plane = Plane::of(step.images, [step.channels, step.pixels], step.pitch)?;
    let input = operands.cells(step.input, plane.input, false)?;
    let output = operands.cells(step.output, plane.output, true)?;
    plane.convert(input, output, |number: f32| {
        let scaled = (number * step.inverse).clamp(-32_767.0, 32_767.0) + ROUNDER;
        scaled.to_bits().wrapping_sub(ROUNDER.to_bits()) as i16
    });
    Ok(())
}

#[cfg(feature = "int16-border")]
pub fn dequantize16(step: &Dequantize16, operands: Operands<'_, '_>) -> Result<()> {
    let plane = Plane::of(step.images, [step.pixels, step.channels], step.channels)?;
    let input = operands.cells(step.input, plane.input, false)?;
    let output = operands.cells(step.output, plane.output, true)?;
    plane.convert(input, output, |integer: i16| f32::from(integer) * step.scale);
    Ok(())
}

#[cfg(feature = "int16-transpose")]
pub fn transpose16(step: &Transpose16, operands: Operands<'_, '_>) -> Result<()> {
    let plane = Plane::of(step.images, [step.rows, step.columns], step.pitch)?;
    let input = operands.cells(step.input, plane.input, false)?;
    let output = operands.cells(step.output, plane.output, true)?;
    plane.convert(input, output, |integer: i16| integer);
    Ok(())
}

/// Matrices `[rows, columns]`.
struct Plane {
    rows: usize,
    columns: usize,
    /// Elements of the input from a row to the next.
    pitch: usize,
    /// Elements of the input and of the output.
    input: usize,
    output: usize,
}

impl Plane {
    fn of(images: u32, [rows, columns]: [u32; 2], pitch: u32) -> Result<Self> {
        let all = images.checked_mul(rows).ok_or(Error::InvalidProgram)?;
        let len = |row: u32| all.checked_mul(row).filter(|len| *len <= i32::MAX as u32).ok_or(Error::InvalidProgram);
        let (output, input) = (len(columns)?, len(pitch)?);
        // The last row ends with its last column.
        let behind = if all == 0 { 0 } else { pitch.checked_sub(columns).ok_or(Error::InvalidProgram)? };
        let (input, output) = ((input - behind) as usize, output as usize);
        Ok(Self { rows: rows as usize, columns: columns as usize, pitch: pitch as usize, input, output })
    }

    /// Writes the converted transpose of each matrix: in the order of the elements, where it has one row or one column.
    #[inline(always)]
    fn convert<T: Copy, U>(&self, input: &[Cell<T>], output: &[Cell<U>], convert: impl Fn(T) -> U) {
        let mut rows = input.chunks(self.pitch.max(1));
        for output in output.chunks_exact((self.rows * self.columns).max(1)) {
            // The inner loop runs over the columns: the pixels of an image that becomes NHWC.
            for (row, elements) in rows.by_ref().take(self.rows).enumerate() {
                let results = output.iter().skip(row).step_by(self.rows.max(1)).take(self.columns);
                results.zip(elements).for_each(|(result, element)| result.set(convert(element.get())));
            }
        }
    }
}
