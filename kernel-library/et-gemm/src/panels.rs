//! Panels of packed weights: NR neighbouring columns of a group. The last panel of a group has only the vectors that
//! the remaining columns need.

/// The layout of panels. Sizes and offsets are in the packing unit: elements or bytes.
#[derive(Clone, Copy)]
pub struct Panels {
    /// NR: columns of a full panel.
    pub width: usize,
    /// Columns of a vector.
    pub lanes: usize,
    /// Vectors of a full panel.
    vectors: usize,
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
}

impl Panels {
    /// Panels for groups of `columns` columns, with `vectors` vectors of `lanes` columns per panel.
    pub const fn new(columns: usize, [lanes, vectors]: [usize; 2], column_size: usize) -> Self {
        let width = lanes * vectors;
        Self { width, lanes, vectors, columns, per_group: columns.div_ceil(width), column_size }
    }

    /// Packed size of a group.
    const fn group_size(&self) -> usize {
        self.columns.next_multiple_of(self.lanes) * self.column_size
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
        Panel { group, column, columns, vectors, start: before + column * self.column_size }
    }
}
