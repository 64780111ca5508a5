//! Dequantizes packed int8 and int4 weights to panels of the `f32` micro-kernel.
#![allow(unsafe_code, reason = "panels are read and written by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is a loop under the contract of `Unpack`")]

use et_simd::{Float, Integer, Simd};

use super::block_format::{BlockFormat, Form, Width, by_form};

/// How int8 weights are stored.
#[derive(Clone, Copy)]
pub enum Offset {
    /// As `i8`.
    None,
    /// As `u8`, greater by 128.
    Half,
}

/// The format of packed weights.
#[derive(Clone, Copy)]
pub enum Format {
    /// int8 with a scale per column.
    Int8(Offset),
    /// Weights with block scales, and the offset of int8 weights.
    Blocks(BlockFormat, Offset),
}

/// Packed rows to dequantize: each 32-bit word has four int8 or eight int4 of a column.
///
/// # Safety
///
/// `words` has `count` rows, `step` bytes apart, of `vectors` vectors of words; `scales` has a scale per column, and
/// `units` a second-level scale per column if the format requires; `to` has room for `vectors` vectors per weight of a
/// word and row.
pub struct Unpack {
    /// The format of the words.
    pub format: Format,
    /// The first word.
    pub words: *const u8,
    /// Row stride of the words, in bytes.
    pub step: usize,
    /// Rows of words.
    pub count: usize,
    /// Vectors per row.
    pub vectors: usize,
    /// Scales: `f32` for int8, the stored scales for blocks.
    pub scales: *const u8,
    /// Second-level scales of the block scales, if the format has second-level scales.
    pub units: *const f32,
    /// The destination panel.
    pub to: *mut f32,
}

/// Dequantizes rows.
///
/// # Safety
///
/// The CPU has the ISA of `S`, and the contract of [`Unpack`] holds.
#[inline(always)]
pub unsafe fn compute<S: Simd>(part: &Unpack) {
    match part.format {
        Format::Int8(offset) => int8::<S>(part, offset, |isa, start| isa.read(part.scales.cast::<f32>().add(start))),
        Format::Blocks(format, offset) => by_form!(format, F => blocks::<S, F>(part, offset)),
    }
}

/// A word holds four consecutive K elements; `scale` loads the scales of a vector of columns.
#[inline(always)]
unsafe fn int8<S: Simd>(part: &Unpack, offset: Offset, scale: impl Fn(S, usize) -> S::F32) {
    let isa = S::assume();
    // The bit that turns an element into a `u8` with an offset of 128.
    let flipped = if matches!(offset, Offset::None) { 0x80 } else { 0 };
    let width = part.vectors * S::LANES;
    for row in 0..part.count {
        let to = part.to.add(4 * row * width);
        for start in (0..width).step_by(S::LANES) {
            let scale = scale(isa, start);
            let zero = scale * isa.splat(-128.0);
            let words = isa.read_i32(part.words.add(row * part.step + 4 * start).cast());
            for byte in 0..4 {
                let number = field(isa, words, 8 * byte, 0xFF) ^ isa.splat_i32(flipped);
                isa.write(to.add(byte as usize * width + start), number.to_float().mul_add(scale, zero));
            }
        }
    }
}

/// Weights with the scales of a block.
#[inline(always)]
unsafe fn blocks<S: Simd, F: Form>(part: &Unpack, offset: Offset) {
    match F::WIDTH {
        Width::Int4 => int4::<S, F>(part),
        Width::Int8 => int8::<S>(part, offset, |isa, start| F::load(isa, part.scales.add(F::SCALES.size() * start))),
    }
}

/// The low 4 bits of a word's bytes are four consecutive K elements, the high 4 bits the next four.
#[inline(always)]
unsafe fn int4<S: Simd, F: Form>(part: &Unpack) {
    let isa = S::assume();
    let width = part.vectors * S::LANES;
    for row in 0..part.count {
        let to = part.to.add(8 * row * width);
        for start in (0..width).step_by(S::LANES) {
            let scale = F::load(isa, part.scales.add(F::SCALES.size() * start));
            let scale = F::scaled(isa, scale, part.units.wrapping_add(start));
            let zero = scale * isa.splat(-8.0);
            let words = isa.read_i32(part.words.add(row * part.step + 4 * start).cast());
            for half in 0..8 {
                let number = field(isa, words, 8 * (half % 4) + half / 4 * 4, 0xF);
                isa.write(to.add(half as usize * width + start), number.to_float().mul_add(scale, zero));
            }
        }
    }
}

/// The bits of `mask` of each word, after a shift to the right.
#[inline(always)]
fn field<S: Simd>(isa: S, words: S::I32, shift: i32, mask: i32) -> S::I32 {
    words.shift_right(shift) & isa.splat_i32(mask)
}
