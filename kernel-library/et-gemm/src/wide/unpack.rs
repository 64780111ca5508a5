//! Integers of a panel as the numbers that they stand for, in the order in which tiles of `f32` read them.
#![allow(unsafe_code, reason = "panels are read and written by pointer")]
#![allow(unsafe_op_in_unsafe_fn, reason = "each function is a loop under the contract of `Unpack`")]

use crate::lanes::Lanes;
use crate::nibble::scale::ScaleForm;

/// Some rows of words of a panel: each word has four bytes, or eight half bytes, of a column.
///
/// # Safety
///
/// `words` has `count` rows, `step` bytes apart, of `vectors` vectors of words; `scales` has a scale for each column, `units` a
/// size of steps where they are such; `to` takes `vectors` vectors for each byte, or half byte, of a word of every row.
pub struct Unpack {
    /// The first word.
    pub words: *const u8,
    /// Bytes from a row of words to the next.
    pub step: usize,
    /// Rows of words.
    pub count: usize,
    /// Vectors of a row.
    pub vectors: usize,
    /// Scales: `f32` of bytes, of half bytes what their form has.
    pub scales: *const u8,
    /// What such scales are multiplied with, where they are steps.
    pub units: *const f32,
    /// Bytes were stored with their highest bit as it is, not the other way round.
    pub is_signed: bool,
    /// The numbers.
    pub to: *mut f32,
}

/// [`bytes`] or [`halves`] for an instruction set.
pub type UnpackKernel = unsafe fn(&Unpack);

/// Bytes of a word: elements that follow each other.
///
/// # Safety
///
/// The processor has the instructions of `L`; what `Unpack` asks for.
#[inline(always)]
pub unsafe fn bytes<L: Lanes>(part: &Unpack) {
    let width = part.vectors * L::COUNT;
    let flipped = if part.is_signed { 0x80 } else { 0 };
    for row in 0..part.count {
        let to = part.to.add(4 * row * width);
        for start in (0..width).step_by(L::COUNT) {
            let scale = L::load(part.scales.cast::<f32>().add(start));
            let zero = scale.multiply(L::splat(-128.0));
            let words = L::words(part.words.add(row * part.step + 4 * start).cast());
            for byte in 0..4 {
                let number = L::field(words, 8 * byte, 0xFF, flipped);
                number.multiply_add(scale, zero).store(to.add(byte as usize * width + start));
            }
        }
    }
}

/// Half bytes of a word: the lower halves of its bytes are four elements that follow each other, the higher ones the next four.
///
/// # Safety
///
/// As for [`bytes`]; scales are of the form `F`.
#[inline(always)]
pub unsafe fn halves<L: Lanes, F: ScaleForm>(part: &Unpack) {
    let width = part.vectors * L::COUNT;
    for row in 0..part.count {
        let to = part.to.add(8 * row * width);
        for start in (0..width).step_by(L::COUNT) {
            let scale = F::load::<L>(part.scales.add(F::SCALES.size() * start));
            let scale = F::scaled(scale, part.units.wrapping_add(start));
            let zero = scale.multiply(L::splat(-8.0));
            let words = L::words(part.words.add(row * part.step + 4 * start).cast());
            for half in 0..8 {
                let number = L::field(words, 8 * (half % 4) + half / 4 * 4, 0xF, 0);
                number.multiply_add(scale, zero).store(to.add(half as usize * width + start));
            }
        }
    }
}
