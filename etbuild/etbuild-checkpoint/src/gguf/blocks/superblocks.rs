//! Blocks of 256 elements, whose groups have small integers as scales, in units of a number of the block.

use super::{Format, Kind, byte, half};

/// The elements of a block.
const SIZE: usize = 256;

pub const FORMATS: &[Format] = &[
    Format { code: 10, name: "Q2_K", elements: SIZE, bytes: 84, kind: Kind::Numbers(q2_k) },
    Format { code: 11, name: "Q3_K", elements: SIZE, bytes: 110, kind: Kind::Numbers(q3_k) },
    Format { code: 12, name: "Q4_K", elements: SIZE, bytes: 144, kind: Kind::Numbers(q4_k) },
    Format { code: 13, name: "Q5_K", elements: SIZE, bytes: 176, kind: Kind::Numbers(q5_k) },
    Format { code: 14, name: "Q6_K", elements: SIZE, bytes: 210, kind: Kind::Numbers(q6_k) },
];

/// Bits of an element of a plane: `width` bits for each element, where bytes of 32 elements hold the bits of several runs of 32.
fn plane(block: &[u8], start: usize, width: usize, index: usize) -> u8 {
    let per_byte = 8 / width;
    let (run, lane) = (index / 32, index % 32);
    let bits = byte(block, start + run / per_byte * 32 + lane) >> (run % per_byte * width);
    bits & ((1 << width) - 1)
}

/// 2-bit integers in groups of 16, with 4-bit scales and 4-bit offsets.
fn q2_k(block: &[u8], numbers: &mut [f32]) {
    let (scale, offset) = (half(block, 80), half(block, 82));
    for (index, number) in numbers.iter_mut().enumerate() {
        let of_group = byte(block, index / 16);
        let integer = f32::from(plane(block, 16, 2, index));
        *number = scale * f32::from(of_group & 15) * integer - offset * f32::from(of_group >> 4);
    }
}

/// 3-bit integers, greater by 4, in groups of 16, with 6-bit scales that are greater by 32.
fn q3_k(block: &[u8], numbers: &mut [f32]) {
    let scale = half(block, 108);
    for (index, number) in numbers.iter_mut().enumerate() {
        let integer = plane(block, 32, 2, index) | plane(block, 0, 1, index) << 2;
        let group = index / 16;
        let low = byte(block, 96 + group % 8) >> (group / 8 * 4) & 15;
        let high = byte(block, 104 + group % 4) >> (group / 4 * 2) & 3;
        let of_group = f32::from((low | high << 4).cast_signed() - 32);
        *number = scale * of_group * f32::from(integer.cast_signed() - 4);
    }
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
    [half(block, 0) * f32::from(scale), half(block, 2) * f32::from(offset)]
}

/// Writes the numbers of groups of 32 with scales and offsets.
fn with_offsets(block: &[u8], numbers: &mut [f32], integer: impl Fn(usize) -> u8) {
    for (group, numbers) in numbers.chunks_mut(32).enumerate() {
        let [scale, offset] = scale_and_offset(block, group);
        for (lane, number) in numbers.iter_mut().enumerate() {
            *number = scale * f32::from(integer(group * 32 + lane)) - offset;
        }
    }
}

/// 4-bit integers.
fn q4_k(block: &[u8], numbers: &mut [f32]) {
    with_offsets(block, numbers, |index| plane(block, 16, 4, index));
}

/// 5-bit integers: the fifth bits, and the other bits.
fn q5_k(block: &[u8], numbers: &mut [f32]) {
    with_offsets(block, numbers, |index| plane(block, 48, 4, index) | plane(block, 16, 1, index) << 4);
}

/// 6-bit integers, greater by 32, in groups of 16 with signed bytes as scales. The low halves of 128 elements take 64 bytes.
fn q6_k(block: &[u8], numbers: &mut [f32]) {
    let scale = half(block, 208);
    for (index, number) in numbers.iter_mut().enumerate() {
        let (part, within) = (index / 128, index % 128);
        let low = byte(block, part * 64 + within % 64) >> (within / 64 * 4) & 15;
        let integer = low | plane(block, 128, 2, index) << 4;
        let of_group = f32::from(byte(block, 192 + index / 16).cast_signed());
        *number = scale * of_group * f32::from(integer.cast_signed() - 32);
    }
}
