//! Plain numbers, and blocks of 32 elements with one scale.

use et_core::ScalarType;

use super::{Format, Kind, byte, half, nibbles};
use crate::encoded::{Grid, Split};

/// The elements of a block.
const SIZE: usize = 32;

pub const FORMATS: &[Format] = &[
    Format { code: 0, name: "F32", elements: 1, bytes: 4, kind: Kind::Plain(ScalarType::Float) },
    Format { code: 1, name: "F16", elements: 1, bytes: 2, kind: Kind::Plain(ScalarType::Half) },
    Format { code: 30, name: "BF16", elements: 1, bytes: 2, kind: Kind::Plain(ScalarType::BFloat16) },
    Format { code: 2, name: "Q4_0", elements: SIZE, bytes: 18, kind: Kind::Groups(Grid::signed(4, SIZE), q4_0) },
    Format { code: 3, name: "Q4_1", elements: SIZE, bytes: 20, kind: Kind::Groups(Grid::with_offsets(4, SIZE), q4_1) },
    Format { code: 6, name: "Q5_0", elements: SIZE, bytes: 22, kind: Kind::Groups(Grid::signed(5, SIZE), q5_0) },
    Format { code: 7, name: "Q5_1", elements: SIZE, bytes: 24, kind: Kind::Groups(Grid::with_offsets(5, SIZE), q5_1) },
    Format { code: 8, name: "Q8_0", elements: SIZE, bytes: 34, kind: Kind::Groups(Grid::signed(8, SIZE), q8_0) },
];

/// Writes the integers and the scale of a block.
fn write(parts: &mut Split<'_>, scale: f32, integers: impl Iterator<Item = i8>) {
    parts.integers.iter_mut().zip(integers).for_each(|(place, integer)| *place = integer);
    parts.scales.iter_mut().for_each(|place| *place = scale);
}

/// A scale, and 4-bit integers that are greater by 8.
fn q4_0(block: &[u8], parts: &mut Split<'_>) {
    let integers = nibbles(block.get(2..).unwrap_or_default());
    write(parts, half(block, 0), integers.map(|integer| integer.cast_signed() - 8));
}

/// A scale, and bytes.
fn q8_0(block: &[u8], parts: &mut Split<'_>) {
    let integers = block.get(2..).unwrap_or_default();
    write(parts, half(block, 0), integers.iter().map(|integer| integer.cast_signed()));
}

/// A scale, the fifth bits, and the other bits of 5-bit integers that are greater by 16.
fn q5_0(block: &[u8], parts: &mut Split<'_>) {
    let integers = five_bits(block, 2);
    write(parts, half(block, 0), integers.map(|integer| integer.cast_signed() - 16));
}

/// The 5-bit integers whose fifth bits begin at a place.
fn five_bits(block: &[u8], start: usize) -> impl Iterator<Item = u8> + '_ {
    let high = move |index: usize| byte(block, start + index / 8) >> (index % 8) & 1;
    nibbles(block.get(start + 4..).unwrap_or_default()).enumerate().map(move |(index, low)| low | high(index) << 4)
}

/// A scale, an offset, and 4-bit integers, of which 8 are taken here and added to the offset.
fn q4_1(block: &[u8], parts: &mut Split<'_>) {
    let (scale, offset) = (half(block, 0), half(block, 2));
    let integers = nibbles(block.get(4..).unwrap_or_default());
    write(parts, scale, integers.map(|integer| integer.cast_signed() - 8));
    parts.offsets.iter_mut().for_each(|place| *place = offset + 8.0 * scale);
}

/// A scale, an offset, and 5-bit integers, of which 16 are taken here and added to the offset.
fn q5_1(block: &[u8], parts: &mut Split<'_>) {
    let (scale, offset) = (half(block, 0), half(block, 2));
    let integers = five_bits(block, 4);
    write(parts, scale, integers.map(|integer| integer.cast_signed() - 16));
    parts.offsets.iter_mut().for_each(|place| *place = offset + 16.0 * scale);
}
