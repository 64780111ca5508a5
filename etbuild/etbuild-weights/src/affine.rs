//! Matrices of small integers with a scale and a zero point, or a bias, for each group of a row.

use std::sync::Arc;

use crate::encoded::{Encoded, Form, Grid, Split};
use crate::lanes::Lanes;

/// Where the integers of a matrix `[rows, columns]` lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Words `[columns / lanes, rows]`, the lowest bits first (GPTQ).
    Columns,
    /// Words `[columns, rows / lanes]`, with lanes in the order of AWQ's kernels.
    RowsInTurns,
    /// Words `[rows, columns / lanes]`, the lowest bits first (compressed-tensors).
    Rows,
    /// Words `[rows, columns * bits / 32]`, the lowest bits first; an integer may lie in two words (MLX).
    Stream,
    /// A signed byte for each element, `[rows, columns]`, of which the lowest bits count.
    Bytes,
    /// Signed integers of 4 bits, `[rows, columns / 2]` bytes, the low half first (torchao).
    Nibbles,
    /// Words `[rows / 8, columns / (32 * words), 32, words]` of 4-bit integers in the order of a GPU's matrix instruction for 8 rows and 16
    /// columns, with the second size and the last (tinygemm).
    Tiles([usize; 2]),
}

impl Packing {
    /// Whether stored integers are signed; others are from 0 on.
    const fn is_signed(self) -> bool {
        matches!(self, Self::Bytes | Self::Nibbles)
    }
}

/// The zero points `[groups, rows]`, or the biases in their place.
#[derive(Clone)]
pub enum Zeros {
    /// The same for all.
    Same(i32),
    /// Words `[groups, rows / lanes]`, the lowest bits first; less than the zero points by a number.
    Packed(Lanes, i32),
    /// The same with lanes in the order of AWQ's kernels.
    InTurns(Lanes),
    /// Words `[rows / lanes, groups]`, the lowest bits first.
    ByRow(Lanes),
    /// Signed bytes `[rows, groups]`.
    Bytes(Lanes),
    /// No zero points: numbers `[rows, groups]` that are added to the products of integers and scales (MLX).
    Biases(Lanes),
    /// The same, `[groups, rows]`.
    BiasesByGroup(Lanes),
}

/// A matrix.
#[derive(Clone)]
pub struct Affine {
    /// The name of the form.
    pub name: &'static str,
    /// The integers.
    pub integers: Lanes,
    /// The bits of an integer.
    pub bits: usize,
    /// The layout of the integers.
    pub packing: Packing,
    /// The scales: `[groups, rows]`, or `[rows, groups]` where `scales_by_row`.
    pub scales: Lanes,
    /// Whether the scales of a row are neighbours.
    pub scales_by_row: bool,
    /// The zero points.
    pub zeros: Zeros,
    /// The group of each column, where groups are not neighbours.
    pub groups: Option<Lanes>,
    /// The rows, the columns, and the columns of a group.
    pub sizes: [usize; 3],
}

/// The lane of the integer at a place of a word, in the order of AWQ's kernels.
const TURNS: [usize; 8] = [0, 4, 1, 5, 2, 6, 3, 7];

impl Affine {
    const fn rows(&self) -> usize {
        self.sizes[0]
    }

    const fn columns(&self) -> usize {
        self.sizes[1]
    }

    /// The groups of a row.
    fn count(&self) -> usize {
        self.columns().div_ceil(self.sizes[2].max(1))
    }

    /// The integers of a word.
    const fn lanes(&self) -> usize {
        32 / self.bits
    }

    fn lane(&self, words: &Lanes, index: usize, lane: usize) -> i32 {
        let mask = if self.bits == 32 { u32::MAX } else { (1 << self.bits) - 1 };
        (words.word(index) >> (lane * self.bits) & mask).cast_signed()
    }

    /// The integer from a bit on.
    fn of_stream(&self, bit: usize) -> i32 {
        let [low, high] = [0, 1].map(|next| u64::from(self.integers.word(bit / 32 + next)));
        ((low | high << 32) >> (bit % 32) & ((1 << self.bits) - 1)) as i32
    }

    /// The signed integer in the lowest bits of a byte.
    const fn signed(&self, byte: u8) -> i32 {
        let unused = 8_usize.saturating_sub(self.bits);
        ((byte << unused).cast_signed() >> unused) as i32
    }

    /// The stored integer in the middle of the range.
    const fn middle(&self) -> i32 {
        if self.packing.is_signed() { 0 } else { 1 << (self.bits - 1) }
    }

    fn turn(&self, place: usize) -> usize {
        if self.lanes() == TURNS.len() { TURNS.get(place).copied().unwrap_or(0) } else { place }
    }

    /// The stored integer of an element, which the zero point has not been taken from.
    fn integer(&self, row: usize, column: usize) -> i32 {
        let (rows, columns, lanes) = (self.rows(), self.columns(), self.lanes());
        match self.packing {
            Packing::Columns => self.lane(&self.integers, column / lanes * rows + row, column % lanes),
            Packing::RowsInTurns => {
                self.lane(&self.integers, column * (rows / lanes) + row / lanes, self.turn(row % lanes))
            }
            Packing::Rows => self.lane(&self.integers, row * columns.div_ceil(lanes) + column / lanes, column % lanes),
            Packing::Stream => self.of_stream((row * columns + column) * self.bits),
            Packing::Tiles(sizes) => self.of_tiles(sizes, row, column),
            Packing::Bytes => self.signed(self.integers.byte(row * columns + column)),
            Packing::Nibbles => {
                let half = column % 2 * 4;
                self.signed(self.integers.byte(row * columns.div_ceil(2) + column / 2) >> half)
            }
        }
    }

    /// The integer of a word of two tiles beside each other: a word has a pair of neighbours, and the pair 8 columns on, of each.
    fn of_tiles(&self, [across, words]: [usize; 2], row: usize, column: usize) -> i32 {
        let (tile, within) = (column / 16, column % 16);
        let (outer, inner) = (tile / (2 * words.max(1)), tile % (2 * words.max(1)));
        let thread = row % 8 * 4 + within % 8 / 2;
        let word = ((row / 8 * across + outer) * 32 + thread) * words + inner / 2;
        let lane = within % 2 * 4 + inner % 2 * 2 + within / 8;
        self.lane(&self.integers, word, lane)
    }

    fn zero(&self, row: usize, group: usize) -> i32 {
        let (words, lanes) = (self.rows().div_ceil(self.lanes()), self.lanes());
        match &self.zeros {
            Zeros::Same(zero) => *zero,
            Zeros::Packed(zeros, more) => self.lane(zeros, group * words + row / lanes, row % lanes) + more,
            Zeros::InTurns(zeros) => self.lane(zeros, group * words + row / lanes, self.turn(row % lanes)),
            Zeros::ByRow(zeros) => self.lane(zeros, row / lanes * self.count() + group, row % lanes),
            Zeros::Bytes(zeros) => zeros.byte(row * self.count() + group).cast_signed().into(),
            Zeros::Biases(_) | Zeros::BiasesByGroup(_) => 0,
        }
    }

    /// What is added to the products of a group.
    fn bias(&self, row: usize, group: usize) -> f32 {
        match &self.zeros {
            Zeros::Biases(biases) => biases.real(row * self.count() + group),
            Zeros::BiasesByGroup(biases) => biases.real(group * self.rows() + row),
            _ => 0.0,
        }
    }

    fn scale(&self, row: usize, group: usize) -> f32 {
        let index = if self.scales_by_row { row * self.count() + group } else { group * self.rows() + row };
        self.scales.real(index)
    }

    fn group(&self, column: usize) -> usize {
        match &self.groups {
            Some(groups) => (groups.word(column) as usize).min(self.count().saturating_sub(1)),
            None => column / self.sizes[2].max(1),
        }
    }

    /// The zero point that all groups have, if any.
    fn common_zero(&self) -> Option<i32> {
        let first = self.zero(0, 0);
        let all = |row: usize| (0..self.count()).all(|group| self.zero(row, group) == first);
        match self.zeros {
            Zeros::Same(zero) => Some(zero),
            Zeros::Biases(_) | Zeros::BiasesByGroup(_) => None,
            _ => (0..self.rows()).all(all).then_some(first),
        }
    }

    /// The matrix, with groups where those fit a GEMM: of neighbours. Biases, and zero points other than the middle of the range, become offsets.
    pub fn encoded(self) -> Encoded {
        let (columns, group) = (self.columns(), self.sizes[2].max(1));
        let is_whole = self.groups.is_none() && columns % group == 0;
        let bits = self.bits as u32;
        let grid = if self.common_zero() == Some(self.middle()) {
            Grid::signed(bits, group)
        } else {
            Grid::with_offsets(bits, group)
        };
        Encoded { form: Arc::new(WithGrid { grid: is_whole.then_some(grid), matrix: self }), columns }
    }
}

/// A matrix with the groups that fit a GEMM.
struct WithGrid {
    matrix: Affine,
    grid: Option<Grid>,
}

impl Form for WithGrid {
    fn name(&self) -> &'static str {
        self.matrix.name
    }

    fn identity(&self) -> String {
        let Affine { name: _, integers, bits, packing, scales, scales_by_row, zeros, groups, sizes } = &self.matrix;
        let zeros = match zeros {
            Zeros::Same(zero) => format!("{zero}"),
            Zeros::Packed(zeros, more) => format!("packed {} {more}", zeros.digest()),
            Zeros::InTurns(zeros) => format!("in turns {}", zeros.digest()),
            Zeros::ByRow(zeros) => format!("by row {}", zeros.digest()),
            Zeros::Bytes(zeros) => format!("bytes {}", zeros.digest()),
            Zeros::Biases(biases) => format!("biases {} {}", biases.digest(), biases.0.scalar_type.name()),
            Zeros::BiasesByGroup(biases) => {
                format!("biases by group {} {}", biases.digest(), biases.0.scalar_type.name())
            }
        };
        let groups = groups.as_ref().map(Lanes::digest);
        let (integers, types) = (integers.digest(), scales.0.scalar_type.name());
        let scales = scales.digest();
        format!("{integers} {bits} {packing:?} {scales} {types} {scales_by_row} {zeros} {groups:?} {sizes:?}")
    }

    fn decode(&self, first: usize, numbers: &mut [f32]) {
        let matrix = &self.matrix;
        for (row, numbers) in (first..).zip(numbers.chunks_exact_mut(matrix.columns().max(1))) {
            let (mut group, mut scale, mut zero, mut bias) = (usize::MAX, 0.0, 0, 0.0);
            for (column, number) in numbers.iter_mut().enumerate() {
                let of_column = matrix.group(column);
                if of_column != group {
                    group = of_column;
                    (scale, zero) = (matrix.scale(row, group), matrix.zero(row, group));
                    bias = matrix.bias(row, group);
                }
                *number = (matrix.integer(row, column) - zero) as f32 * scale + bias;
            }
        }
    }

    fn grid(&self) -> Option<Grid> {
        self.grid
    }

    fn split(&self, first: usize, parts: &mut Split<'_>) {
        let (matrix, groups) = (&self.matrix, self.matrix.count());
        // What the integers are less than the stored ones.
        let middle = matrix.middle();
        for (row, integers) in (first..).zip(parts.integers.chunks_exact_mut(matrix.columns().max(1))) {
            for (column, integer) in integers.iter_mut().enumerate() {
                *integer = i8::try_from(matrix.integer(row, column) - middle).unwrap_or(0);
            }
        }
        for (row, scales) in (first..).zip(parts.scales.chunks_exact_mut(groups.max(1))) {
            scales.iter_mut().enumerate().for_each(|(group, scale)| *scale = matrix.scale(row, group));
        }
        for (row, offsets) in (first..).zip(parts.offsets.chunks_exact_mut(groups.max(1))) {
            for (group, offset) in offsets.iter_mut().enumerate() {
                let product = (middle - matrix.zero(row, group)) as f32 * matrix.scale(row, group);
                *offset = product + matrix.bias(row, group);
            }
        }
    }
}
