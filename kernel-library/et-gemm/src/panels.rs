//! Panels of packed weights: NR neighbouring columns of a group. The last panel of a group has only the vectors that
//! the remaining columns need.
//!
//! All instruction sets of an architecture read the same packed panels. A micro-kernel with a smaller NR reads a packed panel in
//! parts: its panels are neighbouring columns of a packed panel, and K rows are a whole packed row apart.

use core::ops::Range;

use et_simd::Architecture;

/// Lanes and vectors of a packed panel, which all ISAs of an architecture read.
pub const fn packed(architecture: Architecture) -> [usize; 2] {
    match architecture {
        Architecture::Portable | Architecture::Wasm32 => [4, 2],
        // Two registers of AVX-512 and AMX, which AVX2 reads in two parts.
        Architecture::X86_64 => [16, 2],
        Architecture::Aarch64 => [4, 4],
    }
}

/// The layout of panels. Sizes and offsets are in units of a column: words of four bytes (an `f32`, four int8), or bytes of
/// int4 weights.
#[derive(Clone, Copy)]
pub struct Panels {
    /// NR: columns of a full panel of the micro-kernel.
    pub width: usize,
    /// Columns of a vector.
    pub lanes: usize,
    /// Vectors of a full panel.
    vectors: usize,
    /// Columns of a full packed panel: a multiple of `width`.
    packed_width: usize,
    /// The last packed panel of a group has a multiple of this number of columns.
    packed_lanes: usize,
    /// Columns of a group.
    columns: usize,
    /// Panels of a group.
    pub per_group: usize,
    /// Packed size of a column.
    pub column_size: usize,
}

/// A panel.
#[derive(Clone, Copy)]
pub struct Panel {
    /// The group of the panel.
    pub group: usize,
    /// The first column within the group.
    pub column: usize,
    /// Columns without padding.
    pub columns: usize,
    /// Vectors, padding included.
    pub vectors: usize,
    /// Offset in the packed weights.
    pub start: usize,
    /// From a K row to the next: the columns of the packed panel, padding included.
    pub step: usize,
    /// Offset of the panel that follows in the group.
    pub next: usize,
}

impl Panels {
    /// Packed panels for groups of `columns` columns, with `vectors` vectors of `lanes` columns per panel.
    pub const fn new(columns: usize, [lanes, vectors]: [usize; 2], column_size: usize) -> Self {
        let width = lanes * vectors;
        let per_group = columns.div_ceil(width);
        Self { width, lanes, vectors, packed_width: width, packed_lanes: lanes, columns, per_group, column_size }
    }

    /// The same packed panels as a micro-kernel of `vectors` vectors of `lanes` columns reads them. Its NR divides the columns of a
    /// packed panel.
    pub const fn read_by(self, [lanes, vectors]: [usize; 2]) -> Self {
        let width = lanes * vectors;
        Self { width, lanes, vectors, per_group: self.columns.div_ceil(width), ..self }
    }

    /// Packed size of a group.
    const fn group_size(&self) -> usize {
        self.columns.next_multiple_of(self.packed_lanes) * self.column_size
    }

    /// Packed size of every group together.
    pub const fn size(&self, groups: usize) -> usize {
        groups * self.group_size()
    }

    /// The panel at `index`, counted across groups. Full panels of the first group need no division.
    #[inline]
    pub fn get(&self, index: usize) -> Panel {
        let group = if index < self.per_group { 0 } else { index / self.per_group };
        let column = (index - group * self.per_group) * self.width;
        let columns = (self.columns - column).min(self.width);
        let vectors = if columns == self.width { self.vectors } else { columns.div_ceil(self.lanes) };
        let before = if group == 0 { 0 } else { group * self.group_size() };
        let within = if self.width == self.packed_width { 0 } else { column % self.packed_width };
        let (first, step) = (before + (column - within) * self.column_size, self.packed_columns(column - within));
        let is_last = within + self.width >= step;
        let next = if is_last { first + step * self.column_size } else { first + within + self.width };
        Panel { group, column, columns, vectors, start: first + within, step, next }
    }

    /// The columns of a range of panels, counted across groups.
    pub fn columns_of(&self, panels: [usize; 2]) -> Range<usize> {
        let column = |index: usize| {
            let group = index.checked_div(self.per_group).unwrap_or(0);
            let within = (index - group * self.per_group) * self.width;
            group * self.columns + within.min(self.columns)
        };
        column(panels[0])..column(panels[1])
    }

    /// Columns of the packed panel that begins at a column of a group, padding included.
    #[inline]
    const fn packed_columns(&self, column: usize) -> usize {
        let rest = self.columns - column;
        if rest >= self.packed_width { self.packed_width } else { rest.next_multiple_of(self.packed_lanes) }
    }
}
