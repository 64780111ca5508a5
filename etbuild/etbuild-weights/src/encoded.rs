//! Matrices in forms of other tools: integers in groups with scales, or codes of small floating-point numbers.
//!
//! A matrix whose form a GEMM has keeps the stored integers and scales; any other matrix is decoded to `float32`. Both are derived
//! constants, made in pieces.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use et_core::ScalarType;
use rayon::prelude::*;

use crate::derived::Derived;
use crate::reals;

/// The number of elements in memory at a time.
const PIECE: usize = 1 << 20;

/// The number of rows that a processor decodes at a time.
const ROWS: usize = 32;

/// The stored form of a matrix.
pub trait Form: Send + Sync {
    /// The name of the form in messages, such as `Q4_0`.
    fn name(&self) -> &'static str;

    /// All that decides about the numbers, as text.
    fn identity(&self) -> String;

    /// Writes the numbers of some rows, of which `first` is the first, row by row: without groups, a form says how.
    fn decode(&self, first: usize, numbers: &mut [f32]) {
        let Some(Grid { group, .. }) = self.grid() else { return };
        let groups = numbers.len() / group.max(1);
        let (mut integers, mut scales, mut offsets) = (vec![0; numbers.len()], vec![0.0; groups], vec![0.0; groups]);
        self.split(first, &mut Split { integers: &mut integers, scales: &mut scales, offsets: &mut offsets });
        let groups = numbers.chunks_exact_mut(group.max(1)).zip(integers.chunks_exact(group.max(1)));
        for ((numbers, integers), (scale, offset)) in groups.zip(scales.iter().zip(&offsets)) {
            let made = integers.iter().map(|integer| f32::from(*integer) * scale + offset);
            numbers.iter_mut().zip(made).for_each(|(number, made)| *number = made);
        }
    }

    /// The groups of integers, where the numbers of a group are integers times a scale, plus an offset where the grid says so.
    fn grid(&self) -> Option<Grid> {
        None
    }

    /// Writes the integers of some rows, of which `first` is the first, with the scales and the offsets of the groups.
    fn split(&self, _first: usize, _parts: &mut Split<'_>) {}

    /// Releases mapped memory that has been read.
    fn release(&self) {}
}

/// The parts of rows of a matrix with groups.
pub struct Split<'b> {
    /// An integer for each element.
    pub integers: &'b mut [i8],
    /// A scale for each group.
    pub scales: &'b mut [f32],
    /// An offset for each group: what is added to the product of integer and scale.
    pub offsets: &'b mut [f32],
}

/// The groups of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The neighbours in a row that share a scale.
    pub group: usize,
    /// The least and the greatest integer.
    pub bounds: [i64; 2],
    /// Whether groups have offsets.
    pub has_offsets: bool,
}

impl Grid {
    /// Signed integers of some bits.
    pub const fn signed(bits: u32, group: usize) -> Self {
        let half = 1 << (bits - 1);
        Self { group, bounds: [-half, half - 1], has_offsets: false }
    }

    /// Signed integers of some bits, and offsets.
    pub const fn with_offsets(bits: u32, group: usize) -> Self {
        Self { has_offsets: true, ..Self::signed(bits, group) }
    }

    /// Whether the integers take 4 bits.
    pub const fn is_int4(&self) -> bool {
        self.bounds[1] - self.bounds[0] < 16
    }
}

/// A matrix in a form of another tool.
#[derive(Clone)]
pub struct Encoded {
    /// The form.
    pub form: Arc<dyn Form>,
    /// The columns.
    pub columns: usize,
}

impl fmt::Debug for Encoded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} of {} columns", self.form.name(), self.columns)
    }
}

/// What is made of rows of an encoded matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// The numbers, `float32 [rows, columns]`.
    Numbers,
    /// The integers, `int8 [rows, columns]`.
    Integers,
    /// The scales of the groups, `float32 [rows, groups]`.
    Scales,
    /// The offsets of the groups, each times the elements of a group, `float32 [groups, rows]`.
    Offsets,
    /// The offsets of the groups, `float32 [rows, groups]`.
    RowOffsets,
}

/// A constant made of rows of an encoded matrix.
pub struct Decoded<'e> {
    /// The matrix.
    pub matrix: &'e Encoded,
    /// The rows.
    pub rows: Range<usize>,
    /// The part.
    pub want: Want,
}

impl Decoded<'_> {
    /// The elements of the constant in a row.
    fn row(&self) -> usize {
        let columns = self.matrix.columns;
        match self.want {
            Want::Numbers | Want::Integers => columns,
            Want::Scales | Want::Offsets | Want::RowOffsets => {
                columns / self.matrix.form.grid().map_or(1, |grid| grid.group.max(1))
            }
        }
    }

    /// The type of the constant.
    pub fn scalar_type(&self) -> ScalarType {
        if self.want == Want::Integers { ScalarType::Char } else { ScalarType::Float }
    }

    /// The bytes of some rows.
    fn piece(&self, rows: Range<usize>) -> Vec<u8> {
        let starts: Vec<usize> = rows.clone().step_by(ROWS).collect();
        let parts = starts.par_iter().map(|start| self.part(*start..(start + ROWS).min(rows.end)));
        parts.collect::<Vec<Vec<u8>>>().concat()
    }

    /// The offsets of all rows, transposed, and times the elements of a group: factors of the means of groups.
    fn transposed(&self, pieces: impl Iterator<Item = Range<usize>>) -> Vec<u8> {
        let offsets: Vec<u8> = pieces.flat_map(|rows| self.piece(rows)).collect();
        let (offsets, groups) = (reals::floats(&offsets), self.row());
        let size = (self.matrix.columns / groups.max(1)) as f32;
        let of_group = |group: usize| offsets.iter().skip(group).step_by(groups);
        let offsets: Vec<f32> = (0..groups).flat_map(of_group).map(|offset| offset * size).collect();
        reals::stored(&offsets)
    }

    fn part(&self, rows: Range<usize>) -> Vec<u8> {
        let (form, columns, count) = (&self.matrix.form, self.matrix.columns, rows.len());
        if self.want == Want::Numbers {
            let mut numbers = vec![0.0; count * columns];
            form.decode(rows.start, &mut numbers);
            return reals::stored(&numbers);
        }
        let groups = columns / form.grid().map_or(1, |grid| grid.group.max(1));
        let (mut integers, mut scales) = (vec![0; count * columns], vec![0.0; count * groups]);
        let mut offsets = vec![0.0; count * groups];
        let mut split = Split { integers: &mut integers, scales: &mut scales, offsets: &mut offsets };
        form.split(rows.start, &mut split);
        match self.want {
            Want::Integers => integers.into_iter().map(i8::cast_unsigned).collect(),
            Want::Offsets | Want::RowOffsets => reals::stored(&offsets),
            Want::Numbers | Want::Scales => reals::stored(&scales),
        }
    }
}

impl Derived for Decoded<'_> {
    fn identity(&self) -> String {
        let Self { matrix: Encoded { form, columns }, rows, want } = self;
        format!("decoded {} {} {columns} {rows:?} {want:?}", form.name(), form.identity())
    }

    fn length(&self) -> usize {
        self.rows.len() * self.row() * self.scalar_type().size()
    }

    fn run(&self, take: &mut dyn FnMut(&[u8])) {
        let step = (PIECE / self.matrix.columns.max(1)).max(1);
        let pieces = self.rows.clone().step_by(step).map(|start| start..(start + step).min(self.rows.end));
        match self.want {
            Want::Offsets => take(&self.transposed(pieces)),
            _ => pieces.for_each(|rows| take(&self.piece(rows))),
        }
        self.matrix.form.release();
    }
}

/// A constant whose bytes are those of several derived constants in order, such as the offsets of all experts.
pub struct Joined<'e>(pub Vec<Decoded<'e>>);

impl Derived for Joined<'_> {
    fn identity(&self) -> String {
        let parts: Vec<String> = self.0.iter().map(Derived::identity).collect();
        format!("joined {}", parts.join("; "))
    }

    fn length(&self) -> usize {
        self.0.iter().map(Derived::length).sum()
    }

    fn run(&self, take: &mut dyn FnMut(&[u8])) {
        self.0.iter().for_each(|part| part.run(take));
    }
}
