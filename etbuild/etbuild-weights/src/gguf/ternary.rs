//! Blocks of 256 elements of -1, 0 or 1 with one scale.

use super::superblocks::{SIZE, groups, plane, write};
use super::{Format, byte, half};
use crate::encoded::{Grid, Split};

pub const FORMATS: &[Format] = &[
    groups(34, "TQ1_0", 54, Grid::signed(2, SIZE), tq1_0),
    // The fourth code of 2 bits stands for 2.
    groups(35, "TQ2_0", 66, Grid::signed(3, SIZE), tq2_0),
];

/// The runs of elements whose digits lie in the same bytes: the first element, the first byte, and the bytes. Digits of neighbouring bytes are
/// neighbours, and the next digits follow.
const RUNS: [[usize; 3]; 3] = [[240, 48, 4], [160, 32, 16], [0, 0, 32]];

/// Numbers of five digits to the base 3, or of four, as fractions of 256; and a scale.
fn tq1_0(block: &[u8], parts: &mut Split<'_>) {
    parts.scales.fill(half(block, 52));
    write(parts, |index| {
        let [element, start, count] = RUNS.into_iter().find(|[first, ..]| index >= *first).unwrap_or_default();
        let (digit, lane) = ((index - element) / count.max(1), (index - element) % count.max(1));
        // A digit is the whole part of three times the fraction behind the digits ahead.
        let behind = (0..digit).fold(byte(block, start + lane), |fraction, _| fraction.wrapping_mul(3));
        (u16::from(behind) * 3 / 256) as i8 - 1
    });
}

/// Codes of 2 bits, greater by 1, and a scale.
fn tq2_0(block: &[u8], parts: &mut Split<'_>) {
    parts.scales.fill(half(block, 64));
    write(parts, |index| plane(block, 0, 2, index).cast_signed() - 1);
}
