//! Numbers of 4 bits (E2M1) in groups of 32 with a power of two as the scale, in rows of a stack of matrices.

use etbuild_ir::Digest;

use crate::encoded::{Form, Grid, Split};
use crate::lanes::Lanes;
use crate::small_floats;

/// Some rows of a stack.
pub struct Mxfp4 {
    /// The codes, two in a byte.
    pub codes: Lanes,
    /// A byte for each group: the exponent of the scale.
    pub scales: Lanes,
    /// The first row, the distance of rows, and the groups of a row.
    pub place: [usize; 3],
    /// The rows.
    pub rows: usize,
}

impl Mxfp4 {
    /// The elements of a group.
    pub const GROUP: usize = 32;
    /// The bytes of a group.
    pub const BYTES: usize = 16;

    /// The groups of the rows from a row on, by their place in the stack.
    fn groups_from(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        let [start, step, groups] = self.place;
        (row..self.rows).flat_map(move |row| (start + row * step) * groups..(start + row * step + 1) * groups)
    }

    /// The scale of a group's integers.
    fn scale(&self, group: usize) -> f32 {
        small_floats::power(self.scales.byte(group)) / 2.0
    }

    /// Twice the numbers of a group's codes.
    fn integers(&self, group: usize) -> impl Iterator<Item = i8> + '_ {
        let codes = (0..Self::BYTES).map(move |lane| self.codes.byte(group * Self::BYTES + lane));
        codes.flat_map(|code| [code & 15, code >> 4]).map(small_floats::twice_e2m1)
    }
}

impl Form for Mxfp4 {
    fn name(&self) -> &'static str {
        "MXFP4"
    }

    fn identity(&self) -> String {
        let Self { codes, scales, place: [first, step, groups], rows } = self;
        // The digest of an expert's rows, and not that of the stack for each expert.
        let range = |lanes: &Lanes, width: usize| {
            let bytes = lanes.bytes().get(first * width..).unwrap_or_default();
            Digest::of(bytes.get(..rows * step * width).unwrap_or(bytes))
        };
        format!("{} {} {step} {groups}", range(codes, groups * Self::BYTES), range(scales, *groups))
    }

    /// The numbers are halves of integers.
    fn grid(&self) -> Option<Grid> {
        Some(Grid::signed(8, Self::GROUP))
    }

    fn split(&self, first: usize, parts: &mut Split<'_>) {
        let integers = parts.integers.chunks_exact_mut(Self::GROUP).zip(parts.scales.iter_mut());
        for (group, (integers, scale)) in self.groups_from(first).zip(integers) {
            *scale = self.scale(group);
            integers.iter_mut().zip(self.integers(group)).for_each(|(place, integer)| *place = integer);
        }
    }
}
