//! Matrices that are stored transposed.

use etbuild_ir::ConstantData;

use crate::derived::Derived;

/// Which of interleaved rows or columns are wanted.
#[derive(Clone, Copy)]
pub struct Turns {
    /// The first.
    pub first: usize,
    /// The distance between neighbours.
    pub step: usize,
    /// How many.
    pub count: usize,
    /// Of how many.
    pub all: usize,
}

/// Rows of a matrix that is stored transposed, `[columns, all]`.
pub struct Transposed {
    /// The bytes of the matrix.
    pub stored: ConstantData,
    /// The bytes of an element.
    pub size: usize,
    /// The columns of the rows.
    pub columns: usize,
    /// The rows.
    pub rows: Turns,
}

impl Derived for Transposed {
    fn identity(&self) -> String {
        let Self { stored, size, columns, rows: Turns { first, step, count, all } } = self;
        format!("transposed {} {size} {columns} {all} {first} {step} {count}", stored.digest())
    }

    fn length(&self) -> usize {
        self.rows.count * self.columns * self.size
    }

    fn run(&self, take: &mut dyn FnMut(&[u8])) {
        take(&rows(self.stored.bytes(), self.size, self.columns, self.rows));
    }
}

/// The bytes of rows of a matrix that is stored transposed, `[columns, all]`, of elements of so many bytes.
pub fn rows(stored: &[u8], size: usize, columns: usize, rows: Turns) -> Vec<u8> {
    let Turns { first, step, count, all } = rows;
    let mut bytes = Vec::with_capacity(stored.len().min(count * columns * size));
    for row in (0..count).map(|row| first + step * row) {
        let elements = stored.chunks_exact(size.max(1)).skip(row).step_by(all.max(1)).take(columns);
        elements.for_each(|element| bytes.extend_from_slice(element));
    }
    bytes
}

/// Appends the transpose of a matrix of elements of so many bytes.
pub fn transpose(stored: &[u8], [rows, columns]: [usize; 2], size: usize, to: &mut Vec<u8>) {
    for column in 0..columns {
        let elements = stored.chunks_exact(size.max(1)).skip(column).step_by(columns.max(1)).take(rows);
        elements.for_each(|element| to.extend_from_slice(element));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three columns of four rows, of elements of two bytes.
    const STORED: [u8; 24] = [0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 1, 1, 1, 2, 1, 3, 2, 0, 2, 1, 2, 2, 2, 3];

    #[test]
    fn every_second_row_is_of_all_columns() {
        let turns = Turns { first: 1, step: 2, count: 2, all: 4 };
        let wanted = [0, 1, 1, 1, 2, 1, 0, 3, 1, 3, 2, 3];
        assert_eq!(rows(&STORED, 2, 3, turns), wanted);
        let derived = Transposed { stored: ConstantData::new(STORED.to_vec()), size: 2, columns: 3, rows: turns };
        let mut made = Vec::new();
        derived.run(&mut |piece| made.extend_from_slice(piece));
        assert_eq!((made.len(), &made[..]), (derived.length(), &wanted[..]));
    }

    #[test]
    fn a_transpose_follows_what_is_there() {
        let mut bytes = vec![9];
        transpose(&STORED, [3, 4], 2, &mut bytes);
        assert_eq!(bytes.len(), 25);
        assert_eq!(bytes[..9], [9, 0, 0, 1, 0, 2, 0, 0, 1]);
    }
}
