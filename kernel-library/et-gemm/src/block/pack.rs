//! Packed blockwise int4, int6 and int8 weights: panels of columns.
//!
//! Panel header, an `f32` row each: column sums of the dequantized weights (zero-point correction), optional bias,
//! optional second-level scales. Spans of blocks of K follow. A span has scales and, in a format with offsets, as many offsets: two bytes per
//! column (an fp16 scale, or the u8 scales of two blocks), four (`f32`), or those of a super-block: an `f32` row of second-level scales, and
//! an i8 row for each block. Then rows of four bytes per column. A row of int4 has eight K elements: elements 0 to 3 in the low 4 bits,
//! elements 4 to 7 in the high 4 bits, with an offset of 8. Three rows of int6 have sixteen: the low 4 bits as two rows of int4, then the high
//! 2 bits of elements 0 to 3 in the low 2 bits of the bytes, and so on, with an offset of 32. A row of int8 has four K elements, with the
//! offset of [`crate::int8::pack`]. int4 and int6 of a format with offsets are unsigned as they are. Values are little-endian. With any
//! format, the rows of a panel of 32 columns are cache-line aligned.

use et_core::{Error, Result};
use et_simd::Architecture;

use crate::kernels::block_format::{BlockFormat, Scales, Width};

/// Columns per packed panel, which all ISAs of an architecture read.
pub const fn panel_width(architecture: Architecture) -> usize {
    match architecture {
        Architecture::Portable | Architecture::Aarch64 | Architecture::Wasm32 => 8,
        Architecture::X86_64 => 32,
    }
}

/// Validated arguments of weight packing.
pub struct Packing<'a> {
    /// Weights in the range of their type: `[columns, inner]`.
    pub weights: &'a [i8],
    /// Block scales and offsets: `[columns, groups]`, or empty.
    pub scales: [&'a [f32]; 2],
    /// `f32` bias per column, or empty.
    pub bias: &'a [f32],
    /// K.
    pub inner: usize,
    /// The packed format.
    pub form: BlockFormat,
    /// What is added to packed weights.
    pub offset: i32,
}

impl Packing<'_> {
    /// Writes a panel of `width` columns, of which `columns` exist from `first` on; padding columns are zero. Fails if
    /// the format cannot represent the scales.
    #[inline]
    pub fn write(&self, first: usize, columns: usize, width: usize, panel: &mut [u8]) -> Result<()> {
        panel.fill(0);
        for lane in 0..columns {
            self.write_column(first + lane, (width, lane), panel)?;
        }
        Ok(())
    }

    #[inline]
    fn write_column(&self, column: usize, (width, lane): (usize, usize), panel: &mut [u8]) -> Result<()> {
        let (form, count) = (self.form, self.inner / self.form.group);
        let mut zero = 0.0;
        let unit = self.write_scales(column, (width, lane), panel)?;
        for index in 0..count {
            let weights = &self.weights[column * self.inner + index * form.group..][..form.group];
            let rows = &mut panel[form.elements_at(index) * width..][..form.elements() * width];
            let sum = match form.width {
                Width::Int4 => write_int4(weights, lane, width, self.offset, rows),
                Width::Int6 => write_int6(weights, lane, width, self.offset, rows),
                Width::Int8 => write_int8(weights, lane, width, self.offset, rows),
            };
            zero += number(panel, (width, lane), form, index, 0) * sum as f32;
            if form.has_offsets {
                zero += number(panel, (width, lane), form, index, 1) * form.group as f32;
            }
        }
        let mut put = |row: usize, number: f32| {
            panel[4 * (row * width + lane)..][..4].copy_from_slice(&number.to_le_bytes());
        };
        put(0, zero);
        self.bias.get(column).into_iter().for_each(|bias| put(1, *bias));
        if form.scales == Scales::Steps {
            put(form.header() / 4 - 1, unit);
        }
        Ok(())
    }

    /// Writes the scales and offsets of a column, and returns the second-level scale of the column.
    #[inline]
    fn write_scales(&self, column: usize, (width, lane): (usize, usize), panel: &mut [u8]) -> Result<f32> {
        let (form, count) = (self.form, self.inner / self.form.group);
        let mut unit = 1.0;
        for (set, numbers) in self.scales.iter().enumerate().filter(|(_, numbers)| !numbers.is_empty()) {
            let numbers = &numbers[column * count..][..count];
            if form.scales == Scales::Steps {
                unit = form.scales.unit(numbers).ok_or(Error::InvalidArgument)?;
            }
            for (span, numbers) in numbers.chunks(form.span()).enumerate() {
                let first = span * form.span();
                if form.scales == Scales::SuperBlocks {
                    unit = form.scales.unit(numbers).ok_or(Error::InvalidArgument)?;
                    let at = (form.set_at(first) + set * form.set()) * width + 4 * lane;
                    panel[at..at + 4].copy_from_slice(&unit.to_le_bytes());
                }
                for (group, number) in (first..).zip(numbers) {
                    let size = form.scales.size();
                    let at = (form.scale_at(group) + set * form.set()) * width + size * lane;
                    panel[at..at + size].copy_from_slice(&form.scales.store(*number, unit)[..size]);
                }
            }
        }
        Ok(unit)
    }

    /// Dequantizes column `lane` of a panel of `width` columns.
    #[inline]
    pub fn read(panel: &[u8], place: (usize, usize), (form, offset): (BlockFormat, i32), elements: &mut [f32]) {
        let (width, lane) = place;
        let unit = match form.scales {
            Scales::Floats | Scales::Halves | Scales::SuperBlocks => 1.0,
            Scales::Steps => float(panel, (form.header() - 4) * width + 4 * lane),
        };
        for (index, elements) in elements.chunks_exact_mut(form.group).enumerate() {
            let scale = unit * number(panel, place, form, index, 0);
            let more = if form.has_offsets { number(panel, place, form, index, 1) } else { 0.0 };
            let steps = panel[form.elements_at(index) * width..].chunks_exact(form.width.bytes() * width);
            for (step, elements) in steps.zip(elements.chunks_exact_mut(form.width.step())) {
                for (k, element) in elements.iter_mut().enumerate() {
                    let packed = integer(step, place, form.width, k);
                    *element = match form.width {
                        Width::Int4 | Width::Int6 => (i32::from(packed) - offset) as f32,
                        Width::Int8 => f32::from(packed.wrapping_sub(offset as u8).cast_signed()),
                    };
                    *element = scale * *element + more;
                }
            }
        }
    }
}

/// Element `k` of a step of packed rows, as packed.
#[inline]
fn integer(step: &[u8], (width, lane): (usize, usize), kind: Width, k: usize) -> u8 {
    let byte = |row: usize, k: usize| step[4 * (row * width + lane) + k % 4];
    let half = |row: usize, k: usize| byte(row, k) >> (k / 4 * 4) & 15;
    match kind {
        Width::Int4 => half(0, k),
        Width::Int6 => half(k / 8, k % 8) | (byte(2, k) >> (k / 4 * 2) & 3) << 4,
        Width::Int8 => byte(k / 4, k),
    }
}

/// The scale of a block of column `lane`, or the offset, which is set 1; in units of the column's second-level scale.
#[inline]
fn number(panel: &[u8], (width, lane): (usize, usize), form: BlockFormat, group: usize, set: usize) -> f32 {
    let at = (form.scale_at(group) + set * form.set()) * width + form.scales.size() * lane;
    let stored = form.scales.number(&panel[at..]);
    match form.scales {
        Scales::SuperBlocks => stored * float(panel, (form.set_at(group) + set * form.set()) * width + 4 * lane),
        Scales::Floats | Scales::Halves | Scales::Steps => stored,
    }
}

/// The `f32` at a place.
#[inline]
fn float(panel: &[u8], at: usize) -> f32 {
    f32::from_le_bytes([panel[at], panel[at + 1], panel[at + 2], panel[at + 3]])
}

/// Packs a block of a column of int8 and returns the sum of the weights.
#[inline]
fn write_int8(weights: &[i8], lane: usize, width: usize, offset: i32, rows: &mut [u8]) -> i32 {
    for (row, four) in rows.chunks_exact_mut(4 * width).zip(weights.chunks_exact(4)) {
        for (byte, weight) in row[4 * lane..][..4].iter_mut().zip(four) {
            *byte = (i32::from(*weight) + offset) as u8;
        }
    }
    weights.iter().map(|weight| i32::from(*weight)).sum()
}

/// Packs a block of a column of int6 and returns the sum of the weights. Weights outside the range are clamped.
#[inline]
fn write_int6(weights: &[i8], lane: usize, width: usize, offset: i32, rows: &mut [u8]) -> i32 {
    let mut sum = 0;
    for (step, sixteen) in rows.chunks_exact_mut(12 * width).zip(weights.as_chunks::<16>().0) {
        let packed = sixteen.map(|weight| (i32::from(weight) + offset).clamp(0, 63));
        for at in 0..4 {
            let pair = |first: usize| packed[first + at] & 15 | (packed[first + 4 + at] & 15) << 4;
            let high = (0..4).fold(0, |high, part| high | packed[4 * part + at] >> 4 << (2 * part));
            for (row, byte) in [pair(0), pair(8), high].into_iter().enumerate() {
                step[4 * (row * width + lane) + at] = byte as u8;
            }
        }
        sum += packed.iter().sum::<i32>() - 16 * offset;
    }
    sum
}

/// Packs a block of a column of int4 and returns the sum of the weights.
#[inline]
fn write_int4(weights: &[i8], lane: usize, width: usize, offset: i32, rows: &mut [u8]) -> i32 {
    let mut sum = 0;
    for (row, eight) in rows.chunks_exact_mut(4 * width).zip(weights.as_chunks::<8>().0) {
        let halves = halves(eight, offset);
        let pairs = (halves | halves >> 28) as u32;
        row[4 * lane..][..4].copy_from_slice(&pairs.to_le_bytes());
        sum += (halves.wrapping_mul(EACH) >> 56) as i32 - 8 * offset;
    }
    sum
}

/// The byte 1, repeated.
const EACH: u64 = 0x0101_0101_0101_0101;

/// Adds an offset of 0 or 8 to eight weights, a byte each, lowest first. Weights outside the range are clamped.
fn halves(eight: &[i8; 8], offset: i32) -> u64 {
    let weights = u64::from_le_bytes(eight.map(i8::cast_unsigned));
    // Adds to the low 7 bits of each byte without carry, and handles the sign bit by xor.
    let halves = ((weights & !(EACH << 7)) + EACH * offset as u64) ^ (weights & (EACH << 7));
    if halves & (EACH * 0xf0) == 0 {
        return halves;
    }
    u64::from_le_bytes(eight.map(|weight| (i32::from(weight) + offset).clamp(0, 15) as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_is_added_to_each_weight() {
        let halves_of = |eight: [i8; 8]| halves(&eight, 8).to_le_bytes();
        assert_eq!(halves_of([-8, -1, 0, 7, 1, -7, 6, 2]), [0, 7, 8, 15, 9, 1, 14, 10]);
        assert_eq!(halves_of([-128, -9, 8, 127, 0, 0, -8, 7]), [0, 0, 15, 15, 8, 8, 0, 15]);
        assert_eq!(halves(&[0, 15, 16, -1, 7, 8, 1, 3], 0).to_le_bytes(), [0, 15, 15, 0, 7, 8, 1, 3]);
    }
}
