//! Widens packed fp16 and bf16 weights, and dequantizes int8, int6 and int4 ones, to panels of the `f32` micro-kernel.
#![allow(unsafe_code, reason = "panels are read and written by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is a loop under the contract of `Unpack`")]

use et_simd::{Float, Integer, Simd};

use super::block_format::{BlockFormat, Form, Width, by_form};
use super::halves::Halves;

/// Prefetch distance in bytes: a GEMM of few rows is bound by the bandwidth of the weights.
const AHEAD: usize = 3 << 10;

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
    /// 16-bit weights, a row for each element of K.
    Halves(Halves),
}

/// Packed rows to dequantize: each 32-bit word has four int8 or eight int4 of a column, and three words have sixteen int6; an element of a
/// row of 16-bit weights is one.
///
/// # Safety
///
/// `words` has `count` rows, `step` bytes apart, of `vectors` vectors of words or 16-bit weights; each of `scales` has a scale per column, and
/// `units` a second-level scale per column if the format requires; `to` has room for `vectors` vectors per weight.
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
    /// Scales: `f32` for int8, the stored scales for blocks, none for 16-bit weights; then offsets, in a format with offsets.
    pub scales: [*const u8; 2],
    /// Second-level scales of the scales and of the offsets, if the format has second-level scales.
    pub units: [*const f32; 2],
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
        Format::Int8(offset) => int8::<S>(part, offset, |isa, start| {
            let scale = isa.read(part.scales[0].cast::<f32>().add(start));
            [scale, scale * isa.splat(-128.0)]
        }),
        Format::Blocks(format, offset) => by_form!(format, F => blocks::<S, F>(part, format, offset)),
        Format::Halves(Halves::Fp16) => halves::<S>(part, |isa, from| isa.read_halves(from)),
        Format::Halves(Halves::Bf16) => halves::<S>(part, |isa, from| isa.read_bfloats(from)),
    }
}

/// Rows of 16-bit weights, which `read` widens.
#[inline(always)]
unsafe fn halves<S: Simd>(part: &Unpack, read: impl Fn(S, *const u16) -> S::F32) {
    let isa = S::assume();
    let width = part.vectors * S::LANES;
    for row in 0..part.count {
        let (from, to) = (part.words.add(row * part.step).cast::<u16>(), part.to.add(row * width));
        isa.prefetch_near(part.words.wrapping_add(row * part.step + AHEAD), 2 * width);
        for start in (0..width).step_by(S::LANES) {
            isa.write(to.add(start), read(isa, from.add(start)));
        }
    }
}

/// A word holds four consecutive K elements; `scales` loads the scales of a vector of columns, and what a packed 0 stands for.
#[inline(always)]
unsafe fn int8<S: Simd>(part: &Unpack, offset: Offset, scales: impl Fn(S, usize) -> [S::F32; 2]) {
    let isa = S::assume();
    // The bit that turns an element into a `u8` with an offset of 128.
    let flipped = if matches!(offset, Offset::None) { 0x80 } else { 0 };
    let width = part.vectors * S::LANES;
    for row in 0..part.count {
        let to = part.to.add(4 * row * width);
        for start in (0..width).step_by(S::LANES) {
            let [scale, zero] = scales(isa, start);
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
unsafe fn blocks<S: Simd, F: Form>(part: &Unpack, format: BlockFormat, offset: Offset) {
    // Bytes are read as if they were greater by 128.
    let zero = format.offset(128);
    match F::WIDTH {
        Width::Int4 => int4::<S, F>(part, format, zero),
        Width::Int6 => int6::<S, F>(part, format, zero),
        Width::Int8 => int8::<S>(part, offset, |isa, start| numbers::<S, F>(isa, part, format, (start, zero))),
    }
}

/// The scales of a vector of columns, and the numbers that a packed 0 stands for, which is less than the integer 0 by `zero`.
#[inline(always)]
unsafe fn numbers<S: Simd, F: Form>(
    isa: S,
    part: &Unpack,
    format: BlockFormat,
    (start, zero): (usize, i32),
) -> [S::F32; 2] {
    let number = |set: usize| {
        let number = F::load(isa, part.scales[set].add(F::SCALES.size() * start));
        match F::SCALES.head() {
            0 => F::scaled(isa, number, part.units[set].wrapping_add(start)),
            _ => number * isa.read(part.units[set].add(start)),
        }
    };
    let scale = number(0);
    let zero = scale * isa.splat(-zero as f32);
    [scale, if format.has_offsets { zero + number(1) } else { zero }]
}

/// The low 4 bits of a word's bytes are four consecutive K elements, the high 4 bits the next four.
#[inline(always)]
unsafe fn int4<S: Simd, F: Form>(part: &Unpack, format: BlockFormat, zero: i32) {
    let isa = S::assume();
    let width = part.vectors * S::LANES;
    for row in 0..part.count {
        let to = part.to.add(8 * row * width);
        for start in (0..width).step_by(S::LANES) {
            let [scale, zero] = numbers::<S, F>(isa, part, format, (start, zero));
            let words = isa.read_i32(part.words.add(row * part.step + 4 * start).cast());
            for half in 0..8 {
                let number = field(isa, words, 8 * (half % 4) + half / 4 * 4, 0xF);
                isa.write(to.add(half as usize * width + start), number.to_float().mul_add(scale, zero));
            }
        }
    }
}

/// Two rows of int4 have the low 4 bits of sixteen K elements, and a row has the high 2 bits.
#[inline(always)]
unsafe fn int6<S: Simd, F: Form>(part: &Unpack, format: BlockFormat, zero: i32) {
    let isa = S::assume();
    let width = part.vectors * S::LANES;
    for step in 0..part.count / 3 {
        let to = part.to.add(16 * step * width);
        for start in (0..width).step_by(S::LANES) {
            let [scale, zero] = numbers::<S, F>(isa, part, format, (start, zero));
            let row = |row: usize| isa.read_i32(part.words.add((3 * step + row) * part.step + 4 * start).cast());
            let (low, high) = ([row(0), row(1)], row(2));
            for k in 0..16 {
                let low = field(isa, low[k as usize / 8], 8 * (k % 4) + k % 8 / 4 * 4, 0xF);
                let number = low ^ field(isa, high, 8 * (k % 4) + k / 4 * 2, 3).shift_left(4);
                isa.write(to.add(k as usize * width + start), number.to_float().mul_add(scale, zero));
            }
        }
    }
}

/// The bits of `mask` of each word, after a shift to the right.
#[inline(always)]
fn field<S: Simd>(isa: S, words: S::I32, shift: i32, mask: i32) -> S::I32 {
    words.shift_right(shift) & isa.splat_i32(mask)
}
