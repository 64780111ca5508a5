//! Blocks of 4-bit codes of numbers in a table.

use super::{Format, Kind, byte, half, nibbles};

pub const FORMATS: &[Format] = &[
    Format { code: 20, name: "IQ4_NL", elements: 32, bytes: 18, kind: Kind::Numbers(iq4_nl) },
    Format { code: 23, name: "IQ4_XS", elements: 256, bytes: 136, kind: Kind::Numbers(iq4_xs) },
    Format { code: 39, name: "MXFP4", elements: 32, bytes: 17, kind: Kind::Numbers(mxfp4) },
];

/// The numbers of the codes of IQ4.
const LEVELS: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

fn level(code: u8) -> f32 {
    f32::from(LEVELS.get(usize::from(code)).copied().unwrap_or_default())
}

/// A scale and codes.
fn iq4_nl(block: &[u8], numbers: &mut [f32]) {
    write(numbers, half(block, 0), block.get(2..).unwrap_or_default(), level);
}

/// A scale; for groups of 32 the high bits of 6-bit scales that are greater by 32, and the low bits; codes.
fn iq4_xs(block: &[u8], numbers: &mut [f32]) {
    let scale = half(block, 0);
    for (group, numbers) in numbers.chunks_mut(32).enumerate() {
        let high = byte(block, 2 + group / 4) >> (group % 4 * 2) & 3;
        let low = byte(block, 4 + group / 2) >> (group % 2 * 4) & 15;
        let of_group = f32::from((low | high << 4).cast_signed() - 32);
        let start = 8 + group * 16;
        write(numbers, scale * of_group, block.get(start..start + 16).unwrap_or_default(), level);
    }
}

/// The exponent of a power of two, and codes of 4-bit numbers (OCP Microscaling Formats 1.0).
fn mxfp4(block: &[u8], numbers: &mut [f32]) {
    let scale = crate::small_floats::power(byte(block, 0));
    write(numbers, scale, block.get(1..).unwrap_or_default(), crate::small_floats::e2m1);
}

fn write(numbers: &mut [f32], scale: f32, codes: &[u8], number: impl Fn(u8) -> f32) {
    numbers.iter_mut().zip(nibbles(codes)).for_each(|(place, code)| *place = scale * number(code));
}
