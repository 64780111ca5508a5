//! Rows of int8 numbers, quantized symmetrically, each followed by the bytes of its scale: a little-endian `f32`. A
//! reader that streams a row in address order has loaded the scale too.

use et_core::{Input, Output};

use crate::math::{Format, Math};

/// The bytes of a scale.
pub const SCALE: usize = size_of::<f32>();

/// The scale whose bytes lie from `start` on, `step` apart.
#[inline]
pub fn scale(bytes: Input<'_, i8>, start: usize, step: usize) -> f32 {
    f32::from_le_bytes(bytes.strided::<SCALE>(start, step).map(i8::cast_unsigned))
}

/// Quantizes numbers to int8 from -127 to 127 and writes the scale behind the row; `steps` are the strides of the
/// numbers and of the bytes. The number of greatest magnitude becomes 127 or -127; ties round to even.
pub fn write(
    (numbers, from): (Input<'_, f32>, usize),
    (bytes, to): (Output<'_, i8>, usize),
    steps: [usize; 2],
    count: usize,
) {
    let number = |index| numbers.get(from + index * steps[0]);
    let greatest = (0..count).fold(0.0, |most: f32, index| most.max(Format::magnitude(number(index))));
    // A row of zeros gets the least positive normal scale, so that the division is defined.
    let scale = (greatest / 127.0).max(f32::MIN_POSITIVE);
    let whole = (0..count).map(|index| Math::round_ties_even(number(index) / scale) as i8);
    let behind = scale.to_le_bytes().map(u8::cast_signed);
    whole.chain(behind).enumerate().for_each(|(index, byte)| bytes.set(to + index * steps[1], byte));
}
