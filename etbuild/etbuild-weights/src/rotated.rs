//! Rotating a matrix: all inputs of the result as a value, so that the result can be stored and found again.

use et_core::ScalarType;
use etbuild_ir::{ConstantData, Digest};
use rayon::prelude::*;

use crate::derived::Derived;
use crate::reals;
use crate::rotation::Space;

/// The number of elements in memory at a time where rows do not mix.
const PIECE: usize = 1 << 20;

/// The number of columns of mixing rows that are rotated together.
const LANES: usize = 64;

/// A matrix that is to be rotated.
#[derive(Clone, Debug)]
pub struct Rotated {
    /// Row-major elements.
    pub elements: ConstantData,
    /// Their type, `float32`, `float16` or `bfloat16`.
    pub scalar_type: ScalarType,
    /// The number of columns.
    pub columns: usize,
    /// The factor of each column; empty where all columns stay.
    pub gains: Vec<f32>,
    /// The space of the columns, once or repeated.
    pub reads: Option<Space>,
    /// The space of the rows, once or repeated.
    pub makes: Option<Space>,
}

impl Derived for Rotated {
    fn identity(&self) -> String {
        let Self { elements, scalar_type, columns, gains, reads, makes } = self;
        let gains = reals::stored(gains);
        let size = |space: &Option<Space>| space.map_or(0, Space::size);
        let (elements, gains, name) = (elements.digest(), Digest::of(&gains), scalar_type.name());
        format!("hadamard {elements} {name} {columns} {gains} {} {}", size(reads), size(makes))
    }

    fn length(&self) -> usize {
        self.elements.bytes().len() / self.scalar_type.size() * size_of::<f32>()
    }

    /// A piece is some rows; where rows mix, all mixing rows. Then the memory holds the rows twice.
    fn run(&self, take: &mut dyn FnMut(&[u8])) {
        let row = self.columns.max(1);
        let rows = self.makes.map_or_else(|| (PIECE / row).max(1), Space::size);
        for bytes in self.elements.bytes().chunks(rows * row * self.scalar_type.size()) {
            let mut reals = reals::read(self.scalar_type, bytes);
            reals.par_chunks_mut(row).for_each(|row| self.rotate_row(row));
            match self.makes {
                None => take(&reals::stored(&reals)),
                Some(space) => {
                    let panels = panels(space, reals, row);
                    (0..space.size()).for_each(|row| take(&row_of(&panels, row, space)));
                }
            }
        }
        self.elements.release();
    }
}

impl Rotated {
    fn rotate_row(&self, row: &mut [f32]) {
        row.iter_mut().zip(&self.gains).for_each(|(element, gain)| *element *= gain);
        if let Some(space) = self.reads {
            space.rotate(row, 1);
        }
    }
}

/// The columns of rows that mix, rotated, some together: each element of a panel's vectors has its lanes.
fn panels(space: Space, reals: Vec<f32>, columns: usize) -> Vec<Vec<f32>> {
    let starts: Vec<usize> = (0..columns).step_by(LANES).collect();
    let panel = |start: &usize| {
        let end = (start + LANES).min(columns);
        let rows = reals.chunks_exact(columns);
        let mut panel: Vec<f32> = rows.flat_map(|row| row.get(*start..end).unwrap_or_default()).copied().collect();
        space.rotate(&mut panel, end - start);
        panel
    };
    starts.par_iter().map(panel).collect()
}

/// The bytes of a row.
fn row_of(panels: &[Vec<f32>], row: usize, space: Space) -> Vec<u8> {
    let parts = panels.iter().flat_map(|panel| {
        let lanes = panel.len() / space.size();
        panel.get(row * lanes..(row + 1) * lanes).unwrap_or_default()
    });
    reals::stored(&parts.copied().collect::<Vec<f32>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InMemory, Keeper};

    fn rotated(rows: usize, columns: usize, reads: Option<Space>, makes: Option<Space>) -> Rotated {
        let reals: Vec<f32> = (0..rows * columns).map(|index| (index * 7919 % 1009) as f32 / 500.0 - 1.0).collect();
        let elements = ConstantData::new(reals::stored(&reals));
        Rotated { elements, scalar_type: ScalarType::Float, columns, gains: Vec::new(), reads, makes }
    }

    fn floats(data: &ConstantData) -> Vec<f32> {
        reals::floats(data.bytes())
    }

    /// The matrix times a vector.
    fn product(matrix: &[f32], vector: &[f32]) -> Vec<f32> {
        let dot = |row: &[f32]| row.iter().zip(vector).map(|(left, right)| left * right).sum();
        matrix.chunks_exact(vector.len()).map(dot).collect()
    }

    #[test]
    fn a_rotated_matrix_reads_and_makes_rotated_vectors() {
        let (rows, columns) = (24, 96);
        let spaces = [Space::new(8), Space::new(48)];
        let work = rotated(rows, columns, Some(spaces[1]), Some(spaces[0]));
        let vector: Vec<f32> = (0..columns).map(|index| (index % 13) as f32 - 6.0).collect();
        let mut expected = product(&floats(&work.elements), &vector);
        spaces[0].rotate(&mut expected, 1);
        let mut turned = vector;
        spaces[1].rotate(&mut turned, 1);
        let got = product(&floats(&InMemory.keep("", &work)), &turned);
        let differs = expected.iter().zip(&got).any(|(expected, got)| (expected - got).abs() > 1e-3);
        assert!(!differs, "{expected:?} {got:?}");
    }

    #[test]
    fn gains_are_of_columns_and_halves_are_numbers() {
        let elements = ConstantData::new([0x3f80_u16, 0x4000, 0x4040, 0x4080].map(u16::to_le_bytes).concat());
        let work = Rotated {
            elements,
            scalar_type: ScalarType::BFloat16,
            columns: 2,
            gains: vec![1.0, 10.0],
            reads: None,
            makes: None,
        };
        let kept = InMemory.keep("", &work);
        assert_eq!((floats(&kept), work.length()), (vec![1.0, 20.0, 3.0, 40.0], 16));
    }

    #[test]
    fn all_that_decides_is_in_the_identity() {
        let one = rotated(8, 16, Some(Space::new(16)), None);
        let others = [
            rotated(8, 16, Some(Space::new(8)), None),
            rotated(8, 16, Some(Space::new(16)), Some(Space::new(8))),
            rotated(16, 8, Some(Space::new(16)), None),
            Rotated { gains: vec![2.0; 16], ..one.clone() },
        ];
        assert!(others.iter().all(|other| other.identity() != one.identity()));
    }
}
