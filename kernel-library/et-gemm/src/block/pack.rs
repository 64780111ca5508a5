//! Packed blockwise int4 and int8 weights: panels of columns.
//!
//! Panel header, an `f32` row each: column sums of the dequantized weights (zero-point correction), optional bias,
//! optional second-level scales. Blocks of K follow: two scale bytes per column (an fp16 scale, or the u8 scales of two
//! blocks), then rows of four bytes per column. A row of int4 has eight K elements: elements 0 to 3 in the
//! low 4 bits, elements 4 to 7 in the high 4 bits, with an offset of 8. A row of int8 has four K elements, with the
//! offset of [`crate::int8::pack`]. Values are little-endian. With either scale format, the rows of a panel of 32
//! columns are cache-line aligned.

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
    /// Block scales: `[columns, groups]`.
    pub scales: &'a [f32],
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
        let count = self.inner / self.form.group;
        let scales = &self.scales[column * count..][..count];
        let unit = self.form.scales.unit(scales).ok_or(Error::InvalidArgument)?;
        let mut zero = 0.0;
        for (index, scale) in scales.iter().enumerate() {
            let (bytes, number) = self.form.scales.store(*scale, unit);
            let size = self.form.scales.size();
            let at = self.form.scales_at(index) * width + size * lane;
            panel[at..at + size].copy_from_slice(&bytes[..size]);
            let weights = &self.weights[column * self.inner + index * self.form.group..][..self.form.group];
            let rows = &mut panel[self.form.elements_at(index) * width..][..self.form.elements() * width];
            let sum = match self.form.width {
                Width::Int4 => write_int4(weights, lane, width, rows),
                Width::Int8 => write_int8(weights, lane, width, self.offset, rows),
            };
            zero += number * sum as f32;
        }
        let mut put = |row: usize, number: f32| {
            panel[4 * (row * width + lane)..][..4].copy_from_slice(&number.to_le_bytes());
        };
        put(0, zero);
        self.bias.get(column).into_iter().for_each(|bias| put(1, *bias));
        if self.form.scales == Scales::Steps {
            put(self.form.header() / 4 - 1, unit);
        }
        Ok(())
    }

    /// Dequantizes column `lane` of a panel of `width` columns.
    #[inline]
    pub fn read(panel: &[u8], (width, lane): (usize, usize), (form, offset): (BlockFormat, i32), elements: &mut [f32]) {
        let unit = match form.scales {
            Scales::Floats | Scales::Halves => 1.0,
            Scales::Steps => {
                let at = (form.header() - 4) * width + 4 * lane;
                f32::from_le_bytes([panel[at], panel[at + 1], panel[at + 2], panel[at + 3]])
            }
        };
        for (index, elements) in elements.chunks_exact_mut(form.group).enumerate() {
            let scale = unit * form.scales.number(&panel[form.scales_at(index) * width + form.scales.size() * lane..]);
            let rows =
                panel[form.elements_at(index) * width..].chunks_exact(4 * width).map(|row| &row[4 * lane..][..4]);
            match form.width {
                Width::Int4 => {
                    let number = |half: u8| scale * (f32::from(half) - 8.0);
                    for (row, eight) in rows.zip(elements.chunks_exact_mut(8)) {
                        for (index, pair) in row.iter().enumerate() {
                            (eight[index], eight[4 + index]) = (number(pair & 15), number(pair >> 4));
                        }
                    }
                }
                Width::Int8 => {
                    let bytes = rows.flatten().map(|byte| byte.wrapping_sub(offset as u8));
                    elements
                        .iter_mut()
                        .zip(bytes)
                        .for_each(|(element, byte)| *element = scale * f32::from(byte.cast_signed()));
                }
            }
        }
    }
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

/// Packs a block of a column of int4 and returns the sum of the weights.
#[inline]
fn write_int4(weights: &[i8], lane: usize, width: usize, rows: &mut [u8]) -> i32 {
    let mut sum = 0;
    for (row, eight) in rows.chunks_exact_mut(4 * width).zip(weights.as_chunks::<8>().0) {
        let halves = halves(eight);
        let pairs = (halves | halves >> 28) as u32;
        row[4 * lane..][..4].copy_from_slice(&pairs.to_le_bytes());
        sum += (halves.wrapping_mul(EACH) >> 56) as i32 - 8 * 8;
    }
    sum
}

/// The byte 1, repeated.
const EACH: u64 = 0x0101_0101_0101_0101;

/// Adds 8 to eight weights, a byte each, lowest first. Weights outside the int4 range are clamped.
fn halves(eight: &[i8; 8]) -> u64 {
    let weights = u64::from_le_bytes(eight.map(i8::cast_unsigned));
    // Adds 8 to the low 7 bits of each byte without carry, and handles the sign bit by xor.
    let halves = ((weights & !(EACH << 7)) + (EACH << 3)) ^ (weights & (EACH << 7));
    if halves & (EACH * 0xf0) == 0 {
        return halves;
    }
    u64::from_le_bytes(eight.map(|weight| (weight.clamp(-8, 7) + 8).cast_unsigned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_is_added_to_each_weight() {
        let halves_of = |eight: [i8; 8]| halves(&eight).to_le_bytes();
        assert_eq!(halves_of([-8, -1, 0, 7, 1, -7, 6, 2]), [0, 7, 8, 15, 9, 1, 14, 10]);
        assert_eq!(halves_of([-128, -9, 8, 127, 0, 0, -8, 7]), [0, 0, 15, 15, 8, 8, 0, 15]);
    }
}
