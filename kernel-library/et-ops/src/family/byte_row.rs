//! Rows of a byte for each number, which are symmetric around 0, each with its scale behind it: the bytes of an `f32`, least
//! significant first. What reads a row in the order of addresses has read its scale too.

use et_core::{Input, Output};

use crate::math::{Format, Math};

/// The bytes of a scale.
pub const SCALE: usize = size_of::<f32>();

/// The scale whose bytes lie from `start` on, `step` apart.
#[inline]
pub fn scale(bytes: Input<'_, i8>, start: usize, step: usize) -> f32 {
    f32::from_le_bytes(bytes.strided::<SCALE>(start, step).map(i8::cast_unsigned))
}

/// Writes numbers as bytes from -127 to 127 and the scale behind them; `steps` are from one number, and from one byte, to the
/// next. The greatest becomes 127 or -127, and a half the even one of two.
pub fn write(
    (numbers, from): (Input<'_, f32>, usize),
    (bytes, to): (Output<'_, i8>, usize),
    steps: [usize; 2],
    count: usize,
) {
    let number = |index| numbers.get(from + index * steps[0]);
    let greatest = (0..count).fold(0.0, |most: f32, index| most.max(Format::magnitude(number(index))));
    // Zeros have a scale by which one can divide.
    let scale = (greatest / 127.0).max(f32::MIN_POSITIVE);
    let whole = (0..count).map(|index| Math::round_ties_even(number(index) / scale) as i8);
    let behind = scale.to_le_bytes().map(u8::cast_signed);
    whole.chain(behind).enumerate().for_each(|(index, byte)| bytes.set(to + index * steps[1], byte));
}
