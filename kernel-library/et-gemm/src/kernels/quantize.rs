//! Dynamic quantization: a scale and zero point for each row, which is a token or a block of one.
#![allow(unsafe_code, reason = "the plain code is compiled for instruction sets that not every processor has")]

use et_core::{Error, Result};
use et_simd::Isa;

use super::KernelRow;
use super::finish::RowScale;

/// Quantization steps of an int8 range.
const STEPS: f32 = 255.0;

/// The greatest magnitude of a symmetric range.
const MOST: f32 = 127.0;

/// Elements that loops go through together: rows may be as short.
const CHUNK: usize = 32;

/// Where 0 is in an int8 range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// Where it is in the range of a row's elements.
    Asymmetric,
    /// In the middle: the zero point is 0.
    Symmetric,
}

/// Rows to quantize.
#[derive(Clone, Copy, Debug)]
pub struct FloatRows<'a> {
    /// The elements of all rows.
    pub elements: &'a [f32],
    /// Elements of a row.
    pub length: usize,
    /// Where 0 is.
    pub mapping: Mapping,
}

/// Quantizes rows to int8, each with qparams of its own; zero is exactly representable, and every ISA produces the same bytes. Fails unless
/// `bytes` and `scales` match the rows, or if this CPU lacks the ISA.
pub fn quantize_rows(isa: Isa, rows: &FloatRows<'_>, bytes: &mut [i8], scales: &mut [RowScale]) -> Result<()> {
    let count = rows.elements.len();
    if bytes.len() != count || scales.len().checked_mul(rows.length) != Some(count) {
        return Err(Error::InvalidArgument);
    }
    let kernels = KernelRow::of(isa).int8.available()?;
    // SAFETY: `is_available` checked that the CPU has the ISA of the kernels.
    unsafe { (kernels.quantize)(rows, bytes, scales) };
    Ok(())
}

/// Quantizes rows whose lengths are validated.
#[inline(always)]
pub fn compute(rows: &FloatRows<'_>, bytes: &mut [i8], scales: &mut [RowScale]) {
    let FloatRows { elements, length, mapping } = *rows;
    if length == 0 {
        scales.fill(RowScale { scale: 1.0, zero_point: 0 });
        return;
    }
    for ((row, bytes), scale) in elements.chunks_exact(length).zip(bytes.chunks_exact_mut(length)).zip(scales) {
        *scale = range(row, mapping);
        quantize(row, *scale, bytes);
    }
}

/// The scale and zero point of the range that covers the row and zero.
#[inline(always)]
fn range(row: &[f32], mapping: Mapping) -> RowScale {
    if mapping == Mapping::Symmetric {
        return RowScale { scale: scale_of(magnitude(row), MOST), zero_point: 0 };
    }
    let mut least = [0f32; 16];
    let mut most = [0f32; 16];
    let chunks = row.chunks_exact(16);
    for (index, &value) in chunks.remainder().iter().enumerate() {
        least[index] = lesser(least[index], value);
        most[index] = greater(most[index], value);
    }
    for chunk in chunks {
        for index in 0..16 {
            least[index] = lesser(least[index], chunk[index]);
            most[index] = greater(most[index], chunk[index]);
        }
    }
    let (least, most) = (least.into_iter().fold(0.0, lesser), most.into_iter().fold(0.0, greater));
    let scale = scale_of(most - least, STEPS);
    RowScale { scale, zero_point: nearest(-128.0 - least / scale).clamp(-128, 127) }
}

#[inline(always)]
fn scale_of(range: f32, steps: f32) -> f32 {
    (range / steps).clamp(f32::MIN_POSITIVE, f32::MAX / steps)
}

/// The greatest magnitude of finite elements: their bits are in the order of the magnitudes.
#[inline(always)]
fn magnitude(row: &[f32]) -> f32 {
    let greatest = |part: &[f32]| part.iter().map(|value| (value.to_bits() & u32::MAX >> 1) as i32).fold(0, i32::max);
    let (chunks, rest) = row.as_chunks::<CHUNK>();
    let most = chunks.iter().map(|chunk| greatest(chunk)).fold(greatest(rest), i32::max);
    f32::from_bits(most as u32).min(f32::MAX)
}

#[inline(always)]
fn lesser(left: f32, right: f32) -> f32 {
    if right < left { right } else { left }
}

#[inline(always)]
fn greater(left: f32, right: f32) -> f32 {
    if right > left { right } else { left }
}

/// Rounds to the nearest integer, ties to even, for magnitudes below 2^22: the result is in the low bits of `value +
/// 1.5 * 2^23`.
#[inline(always)]
fn nearest(value: f32) -> i32 {
    const ROUNDER: f32 = 12_582_912.0;
    ((value + ROUNDER).to_bits() as i32).wrapping_sub(ROUNDER.to_bits() as i32)
}

#[inline(always)]
fn quantize(row: &[f32], scale: RowScale, bytes: &mut [i8]) {
    let inverse = 1.0 / scale.scale;
    let zero = scale.zero_point as f32;
    let each = |bytes: &mut [i8], row: &[f32]| {
        for (byte, &value) in bytes.iter_mut().zip(row) {
            let steps = greater(lesser(value * inverse, 127.0 - zero), -128.0 - zero);
            *byte = nearest(steps).wrapping_add(scale.zero_point) as i8;
        }
    };
    let ((chunks, rest), (parts, last)) = (row.as_chunks::<CHUNK>(), bytes.as_chunks_mut::<CHUNK>());
    parts.iter_mut().zip(chunks).for_each(|(bytes, row)| each(bytes, row));
    each(last, rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_within_half_a_step() {
        let rows: [f32; 40] =
            core::array::from_fn(|index| (index as f32 * 0.7).sin() * 3.0 + (index / 20) as f32 * 5.0);
        let mut bytes = [0; 40];
        let mut scales = [RowScale { scale: 0.0, zero_point: 0 }; 2];
        for mapping in [Mapping::Asymmetric, Mapping::Symmetric] {
            let rows = FloatRows { elements: &rows, length: 20, mapping };
            quantize_rows(Isa::detect(), &rows, &mut bytes, &mut scales).unwrap();
            for (index, (&value, &byte)) in rows.elements.iter().zip(&bytes).enumerate() {
                let RowScale { scale, zero_point } = scales[index / 20];
                assert!(mapping == Mapping::Asymmetric || zero_point == 0);
                let back = (i32::from(byte) - zero_point) as f32 * scale;
                assert!((back - value).abs() <= 1.01 * scale, "{value} {back}");
            }
        }
    }

    #[test]
    fn zero_is_exact_and_rows_of_zeros_have_a_scale() {
        let mut bytes = [9; 4];
        let mut scales = [RowScale { scale: 0.0, zero_point: 0 }; 2];
        let rows = FloatRows { elements: &[0.0, 0.0, 0.0, 2.5], length: 2, mapping: Mapping::Asymmetric };
        quantize_rows(Isa::detect(), &rows, &mut bytes, &mut scales).unwrap();
        assert!(scales[0].scale > 0.0);
        assert_eq!(i32::from(bytes[2]), scales[1].zero_point);
        assert_eq!(i32::from(bytes[0]), scales[0].zero_point);
    }

    #[test]
    fn lengths_that_differ_are_refused() {
        let mut scales = [RowScale { scale: 0.0, zero_point: 0 }; 2];
        let rows = FloatRows { elements: &[0.0; 4], length: 2, mapping: Mapping::Symmetric };
        assert!(quantize_rows(Isa::detect(), &rows, &mut [0; 3], &mut scales).is_err());
        let rows = FloatRows { length: 3, ..rows };
        assert!(quantize_rows(Isa::detect(), &rows, &mut [0; 4], &mut scales).is_err());
    }
}
