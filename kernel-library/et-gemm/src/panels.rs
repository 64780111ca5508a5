//! Panels of packed weights: neighbouring columns of a group, as wide as the tile of an instruction set. The last one of a group is
//! as many vectors as it needs.

/// Where panels are. Sizes and places are in what the weights are packed as: elements or bytes.
#[derive(Clone, Copy)]
pub struct Panels {
    /// Columns of a whole panel.
    pub width: usize,
    /// Columns of a vector.
    pub lanes: usize,
    /// Vectors of a whole panel.
    vectors: usize,
    /// Columns of a group.
    columns: usize,
    /// Panels of a group.
    pub per_group: usize,
    /// What a column takes.
    pub column_size: usize,
}

/// A panel.
#[derive(Clone, Copy)]
pub struct Panel {
    /// Its group.
    pub group: usize,
    /// Its first column in the group.
    pub column: usize,
    /// Columns that exist.
    pub columns: usize,
    /// Vectors.
    pub vectors: usize,
    /// Where it begins in the packed weights.
    pub start: usize,
}

impl Panels {
    /// The panels of groups of so many columns, with so many lanes a vector and vectors a panel.
    pub const fn new(columns: usize, [lanes, vectors]: [usize; 2], column_size: usize) -> Self {
        let width = lanes * vectors;
        Self { width, lanes, vectors, columns, per_group: columns.div_ceil(width), column_size }
    }

    /// What a group takes.
    const fn group_size(&self) -> usize {
        self.columns.next_multiple_of(self.lanes) * self.column_size
    }

    /// What all groups take.
    pub const fn size(&self, groups: usize) -> usize {
        groups * self.group_size()
    }

    /// A panel, counted through all groups. Most are whole and of the only group, and found without a division.
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
