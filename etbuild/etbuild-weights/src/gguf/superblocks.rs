//! Blocks of 256 elements, whose groups have small integers as scales, in units of a number of the block. The integers and scales of each
//! group are a GEMM's.

use super::{Format, Kind, byte, half};
use crate::encoded::{Grid, Split};

/// The elements of a block.
pub const SIZE: usize = 256;

pub const FORMATS: &[Format] = &[
    groups(10, "Q2_K", 84, Grid::with_offsets(2, 16), q2_k),
    groups(11, "Q3_K", 110, Grid::signed(3, 16), q3_k),
    groups(12, "Q4_K", 144, Grid::with_offsets(4, 32), q4_k),
    groups(13, "Q5_K", 176, Grid::with_offsets(5, 32), q5_k),
    groups(14, "Q6_K", 210, Grid::signed(6, 16), q6_k),
];

/// A format of blocks with groups.
pub const fn groups(
    code: u32,
    name: &'static str,
    bytes: usize,
    grid: Grid,
    read: fn(&[u8], &mut Split<'_>),
) -> Format {
    Format { code, name, elements: SIZE, bytes, kind: Kind::Groups(grid, read) }
}

/// Writes the integers of a block.
pub fn write(parts: &mut Split<'_>, integer: impl Fn(usize) -> i8) {
    parts.integers.iter_mut().enumerate().for_each(|(index, place)| *place = integer(index));
}

/// Writes the scale and the offset of each group, where integers are less by `middle` than the stored ones, which the offset is for.
pub fn write_scales(parts: &mut Split<'_>, middle: f32, of_group: impl Fn(usize) -> [f32; 2]) {
    for (group, (scale, offset)) in parts.scales.iter_mut().zip(parts.offsets.iter_mut()).enumerate() {
        let [of_scale, of_offset] = of_group(group);
        (*scale, *offset) = (of_scale, middle * of_scale + of_offset);
    }
}

/// Bits of an element of a plane: `width` bits for each element, where bytes of 32 elements hold the bits of several runs of 32.
pub fn plane(block: &[u8], start: usize, width: usize, index: usize) -> u8 {
    let per_byte = 8 / width;
    let (run, lane) = (index / 32, index % 32);
    let bits = byte(block, start + run / per_byte * 32 + lane) >> (run % per_byte * width);
    bits & ((1 << width) - 1)
}

/// 2-bit integers in groups of 16, with 4-bit scales and 4-bit offsets. 2 is taken here and added to the offset.
fn q2_k(block: &[u8], parts: &mut Split<'_>) {
    let (scale, offset) = (half(block, 80), half(block, 82));
    write(parts, |index| plane(block, 16, 2, index).cast_signed() - 2);
    write_scales(parts, 2.0, |group| {
        let of_group = byte(block, group);
        [scale * f32::from(of_group & 15), -offset * f32::from(of_group >> 4)]
    });
}

/// 3-bit integers, greater by 4, in groups of 16, with 6-bit scales that are greater by 32.
fn q3_k(block: &[u8], parts: &mut Split<'_>) {
    let scale = half(block, 108);
    write(parts, |index| (plane(block, 32, 2, index) | plane(block, 0, 1, index) << 2).cast_signed() - 4);
    write_scales(parts, 0.0, |group| {
        let low = byte(block, 96 + group % 8) >> (group / 8 * 4) & 15;
        let high = byte(block, 104 + group % 4) >> (group / 4 * 2) & 3;
        [scale * f32::from((low | high << 4).cast_signed() - 32), 0.0]
    });
}

/// The 6-bit scale and the 6-bit offset of a group of 32, of the twelve bytes behind two numbers.
fn scale_and_offset(block: &[u8], group: usize) -> [f32; 2] {
    let at = |index: usize| byte(block, 4 + index);
    let [scale, offset] = match group {
        0..4 => [at(group) & 63, at(group + 4) & 63],
        _ => {
            let high = [at(group - 4) >> 6 << 4, at(group) >> 6 << 4];
            [at(group + 4) & 15 | high[0], at(group + 4) >> 4 | high[1]]
        }
    };
    [half(block, 0) * f32::from(scale), -half(block, 2) * f32::from(offset)]
}

/// 4-bit integers, of which 8 are taken here and added to the offset.
fn q4_k(block: &[u8], parts: &mut Split<'_>) {
    write(parts, |index| plane(block, 16, 4, index).cast_signed() - 8);
    write_scales(parts, 8.0, |group| scale_and_offset(block, group));
}

/// 5-bit integers: the fifth bits, and the other bits. 16 are taken here and added to the offset.
fn q5_k(block: &[u8], parts: &mut Split<'_>) {
    write(parts, |index| (plane(block, 48, 4, index) | plane(block, 16, 1, index) << 4).cast_signed() - 16);
    write_scales(parts, 16.0, |group| scale_and_offset(block, group));
}

/// 6-bit integers, greater by 32, in groups of 16 with signed bytes as scales. The low halves of 128 elements take 64 bytes.
fn q6_k(block: &[u8], parts: &mut Split<'_>) {
    let scale = half(block, 208);
    write(parts, |index| {
        let (part, within) = (index / 128, index % 128);
        let low = byte(block, part * 64 + within % 64) >> (within / 64 * 4) & 15;
        (low | plane(block, 128, 2, index) << 4).cast_signed() - 32
    });
    write_scales(parts, 0.0, |group| [scale * f32::from(byte(block, 192 + group).cast_signed()), 0.0]);
}
