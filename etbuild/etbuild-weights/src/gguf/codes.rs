//! Blocks of 4-bit codes of integers in a table.

use super::{Format, Kind, byte, half, nibbles};
use crate::encoded::{Grid, Split};
use crate::small_floats;

/// The elements of a group.
const GROUP: usize = 32;

pub const FORMATS: &[Format] = &[
    Format { code: 20, name: "IQ4_NL", elements: GROUP, bytes: 18, kind: Kind::Groups(Grid::signed(8, GROUP), iq4_nl) },
    Format { code: 23, name: "IQ4_XS", elements: 256, bytes: 136, kind: Kind::Groups(Grid::signed(8, GROUP), iq4_xs) },
    Format { code: 39, name: "MXFP4", elements: GROUP, bytes: 17, kind: Kind::Groups(Grid::signed(8, GROUP), mxfp4) },
    Format { code: 40, name: "NVFP4", elements: 64, bytes: 36, kind: Kind::Groups(Grid::signed(5, 16), nvfp4) },
];

/// The integers of the codes of IQ4.
const LEVELS: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

fn level(code: u8) -> i8 {
    LEVELS.get(usize::from(code)).copied().unwrap_or_default()
}

/// Writes the integers of codes.
fn write(integers: &mut [i8], codes: &[u8], integer: impl Fn(u8) -> i8) {
    integers.iter_mut().zip(nibbles(codes)).for_each(|(place, code)| *place = integer(code));
}

/// A scale and codes.
fn iq4_nl(block: &[u8], parts: &mut Split<'_>) {
    parts.scales.fill(half(block, 0));
    write(parts.integers, block.get(2..).unwrap_or_default(), level);
}

/// A scale; for groups the high bits of 6-bit scales that are greater by 32, and the low bits; codes.
fn iq4_xs(block: &[u8], parts: &mut Split<'_>) {
    let scale = half(block, 0);
    let groups = parts.integers.chunks_mut(GROUP).zip(parts.scales.iter_mut());
    for (group, (integers, of_group)) in groups.enumerate() {
        let high = byte(block, 2 + group / 4) >> (group % 4 * 2) & 3;
        let low = byte(block, 4 + group / 2) >> (group % 2 * 4) & 15;
        *of_group = scale * f32::from((low | high << 4).cast_signed() - 32);
        write(integers, block.get(8 + group * 16..24 + group * 16).unwrap_or_default(), level);
    }
}

/// The exponent of a power of two, and codes of 4-bit numbers (OCP Microscaling Formats 1.0), which are halves of integers.
fn mxfp4(block: &[u8], parts: &mut Split<'_>) {
    parts.scales.fill(small_floats::power(byte(block, 0)) / 2.0);
    write(parts.integers, block.get(1..).unwrap_or_default(), small_floats::twice_e2m1);
}

/// Scales of groups of 16, numbers of 8 bits without a sign, and codes of 4-bit numbers.
fn nvfp4(block: &[u8], parts: &mut Split<'_>) {
    let groups = parts.integers.chunks_mut(16).zip(parts.scales.iter_mut());
    for (group, (integers, scale)) in groups.enumerate() {
        // What is not a number stands for 0, as in ggml.
        let of_group = small_floats::e4m3(byte(block, group) & 127);
        *scale = if of_group.is_nan() { 0.0 } else { of_group / 2.0 };
        write(integers, block.get(4 + group * 8..12 + group * 8).unwrap_or_default(), small_floats::twice_e2m1);
    }
}
