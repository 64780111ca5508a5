//! Blocks of 256 elements whose neighbours, eight or four, are a point of a lattice: points by number, groups with scales, and signs of
//! elements. Coordinates are small integers, so that groups are a GEMM's.

use super::superblocks::{groups, write, write_scales};
use super::{Format, byte, half, word};
use crate::encoded::{Grid, Split};

pub const FORMATS: &[Format] = &[
    groups(16, "IQ2_XXS", 66, Grid::signed(7, 32), iq2_xxs),
    groups(17, "IQ2_XS", 74, Grid::signed(7, 16), iq2_xs),
    groups(18, "IQ3_XXS", 98, Grid::signed(6, 32), iq3_xxs),
    groups(19, "IQ1_S", 50, Grid::with_offsets(2, 32), iq1_s),
    groups(21, "IQ3_S", 110, Grid::signed(5, 32), iq3_s),
    groups(22, "IQ2_S", 82, Grid::signed(7, 16), iq2_s),
    groups(29, "IQ1_M", 56, Grid::signed(5, 16), iq1_m),
];

/// The points of all lattices, one behind the other, each in two bytes: a code of 2 bits for each of eight coordinates, or of 4 bits for each of
/// four, the lowest bits first. The points are facts of the formats, which `generate_lattices.py` writes.
const POINTS: &[u8] = include_bytes!("lattices.bin");

/// A lattice.
struct Lattice {
    /// The number of the first point in [`POINTS`].
    first: usize,
    /// The coordinates of a point.
    coordinates: usize,
    /// The coordinate of each code.
    levels: &'static [i8],
}

const IQ2: &[i8] = &[8, 25, 43];
const IQ2_XXS: Lattice = Lattice { first: 0, coordinates: 8, levels: IQ2 };
const IQ2_XS: Lattice = Lattice { first: 256, coordinates: 8, levels: IQ2 };
const IQ2_S: Lattice = Lattice { first: 768, coordinates: 8, levels: IQ2 };
/// Halves of the coordinates, which are even.
const IQ3_XXS: Lattice = Lattice { first: 1792, coordinates: 4, levels: &[2, 6, 10, 14, 18, 22, 26, 31] };
const IQ3_S: Lattice = Lattice { first: 2048, coordinates: 4, levels: &[1, 3, 5, 7, 9, 11, 13, 15] };
const IQ1: Lattice = Lattice { first: 2560, coordinates: 8, levels: &[-1, 0, 1] };

impl Lattice {
    /// The coordinate of an element, whose point has this number.
    fn at(&self, point: usize, element: usize) -> i8 {
        let width = 16 / self.coordinates;
        let codes = word(POINTS, 2 * (self.first + point)) >> (element % self.coordinates * width);
        self.levels.get(usize::from(codes) & ((1 << width) - 1)).copied().unwrap_or_default()
    }
}

/// An integer, negative where a bit of a byte of signs is set: that of the element.
const fn signed(integer: i8, signs: u8, element: usize) -> i8 {
    if signs >> (element % 8) & 1 == 0 { integer } else { -integer }
}

/// The signs of eight elements of which an even number is negative: seven, and the eighth that follows.
const fn even(seven: u8) -> u8 {
    let seven = seven & 127;
    seven | ((seven.count_ones() & 1) << 7) as u8
}

/// A 32-bit number of a block.
fn double_word(block: &[u8], start: usize) -> u32 {
    u32::from(word(block, start)) | u32::from(word(block, start + 2)) << 16
}

/// The 4-bit number of a place, the low halves of bytes first.
fn nibble(block: &[u8], start: usize, index: usize) -> u8 {
    byte(block, start + index / 2) >> (index % 2 * 4) & 15
}

/// For groups of 32: four numbers of points, and a word with four times seven signs and a scale.
fn iq2_xxs(block: &[u8], parts: &mut Split<'_>) {
    let scale = half(block, 0);
    let more = |group: usize| double_word(block, 6 + group * 8);
    write(parts, |index| {
        let (group, eight) = (index / 32, index % 32 / 8);
        let point = byte(block, 2 + group * 8 + eight);
        signed(IQ2_XXS.at(point.into(), index), even((more(group) >> (eight * 7)) as u8), index)
    });
    write_scales(parts, 0.0, |group| [scale * (0.5 + (more(group) >> 28) as f32) * 0.25, 0.0]);
}

/// Numbers of points of 9 bits, each with seven signs; scales of groups of 16.
fn iq2_xs(block: &[u8], parts: &mut Split<'_>) {
    let scale = half(block, 0);
    write(parts, |index| {
        let stored = word(block, 2 + index / 8 * 2);
        signed(IQ2_XS.at((stored & 511).into(), index), even((stored >> 9) as u8), index)
    });
    write_scales(parts, 0.0, |group| [scale * (0.5 + f32::from(nibble(block, 66, group))) * 0.25, 0.0]);
}

/// The low bytes of numbers of points, the signs, the high bits of the numbers, and scales of groups of 16.
fn iq2_s(block: &[u8], parts: &mut Split<'_>) {
    let scale = half(block, 0);
    write(parts, |index| {
        let eight = index / 8;
        let high = byte(block, 66 + eight / 4) >> (eight % 4 * 2) & 3;
        let point = usize::from(byte(block, 2 + eight)) | usize::from(high) << 8;
        signed(IQ2_S.at(point, index), byte(block, 34 + eight), index)
    });
    write_scales(parts, 0.0, |group| [scale * (0.5 + f32::from(nibble(block, 74, group))) * 0.25, 0.0]);
}

/// Numbers of points of four coordinates, and for groups of 32 a word with four times seven signs and a scale.
fn iq3_xxs(block: &[u8], parts: &mut Split<'_>) {
    let scale = half(block, 0);
    let more = |group: usize| double_word(block, 66 + group * 4);
    write(parts, |index| {
        let signs = even((more(index / 32) >> (index % 32 / 8 * 7)) as u8);
        signed(IQ3_XXS.at(byte(block, 2 + index / 4).into(), index), signs, index)
    });
    write_scales(parts, 0.0, |group| [scale * (0.5 + (more(group) >> 28) as f32), 0.0]);
}

/// The low bytes of numbers of points of four coordinates, the high bits, the signs, and scales of groups of 32.
fn iq3_s(block: &[u8], parts: &mut Split<'_>) {
    let scale = half(block, 0);
    write(parts, |index| {
        let four = index / 4;
        let high = byte(block, 66 + four / 8) >> (four % 8) & 1;
        let point = usize::from(byte(block, 2 + four)) | usize::from(high) << 8;
        signed(IQ3_S.at(point, index), byte(block, 74 + index / 8), index)
    });
    write_scales(parts, 0.0, |group| [scale * f32::from(1 + 2 * nibble(block, 106, group)), 0.0]);
}

/// The low bytes of numbers of points, and for groups of 32 a number with the high bits, a scale, and the sign of an eighth that is added to all
/// coordinates.
fn iq1_s(block: &[u8], parts: &mut Split<'_>) {
    let scale = half(block, 0);
    let more = |group: usize| word(block, 34 + group * 2);
    write(parts, |index| {
        let high = more(index / 32) >> (index % 32 / 8 * 3) & 7;
        IQ1.at(usize::from(byte(block, 2 + index / 8)) | usize::from(high) << 8, index)
    });
    write_scales(parts, 0.0, |group| {
        let scale = scale * f32::from(2 * (more(group) >> 12 & 7) + 1);
        [scale, if more(group) >> 15 == 0 { scale / 8.0 } else { -scale / 8.0 }]
    });
}

/// The low bytes of numbers of points; the high bits, each with the sign of an eighth that is added to the eight coordinates; and scales of groups
/// of 16, with a quarter of the scale of the block in each of four numbers. Integers are eight times the coordinates, and one more or less.
fn iq1_m(block: &[u8], parts: &mut Split<'_>) {
    let quarter = |index: usize| word(block, 48 + index * 2);
    let bits = (0..4).fold(0, |bits, index| bits | (quarter(index) >> 12) << (index * 4));
    let scale = half(&bits.to_le_bytes(), 0);
    write(parts, |index| {
        let (eight, more) = (index / 8, nibble(block, 32, index / 8));
        let point = usize::from(byte(block, eight)) | usize::from(more & 7) << 8;
        IQ1.at(point, index) * 8 + if more & 8 == 0 { 1 } else { -1 }
    });
    write_scales(parts, 0.0, |group| {
        let of_group = quarter(group / 4) >> (group % 4 * 3) & 7;
        [scale * f32::from(2 * of_group + 1) / 8.0, 0.0]
    });
}
