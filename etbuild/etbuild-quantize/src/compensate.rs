//! Rounding weights of a row one after the other, the error of each taken up by those behind it (Frantar et al. 2022, GPTQ). Scales
//! are those of plain rounding, chosen ahead of it.

use rayon::prelude::*;

use crate::elements::Elements;
use crate::factor::Factor;
use crate::parameters::Parameters;
use crate::weight::{Grid, Rounding};

/// So many rows are one job: what a column's error adds to those behind is read once for all.
const ROWS: usize = 16;

/// Quantizes rows of `columns` elements, of which `block` neighbours share a scale, on all processors. `first` is the number of
/// blocks that were quantized before. Both results are as long as there are elements and blocks.
pub fn quantize(
    elements: Elements<'_>,
    ([columns, block], first): ([usize; 2], usize),
    (grid, factor): (&Grid, &Factor),
    (integers, scales): (&mut [u8], &mut [f32]),
) {
    let blocks = ROWS * columns / block;
    let jobs = integers.par_chunks_mut(ROWS * columns).zip(scales.par_chunks_mut(blocks)).enumerate();
    jobs.for_each(|(job, (integers, scales))| {
        let mut reals = Vec::new();
        elements.part(job * ROWS * columns, integers.len()).widen(&mut reals);
        grid.scales(&reals, (block, first + job * blocks), scales);
        Rows { reals: reals.clone(), wanted: reals, columns, block }.round(grid, factor, (integers, scales));
    });
}

/// Rows in the making.
struct Rows {
    /// The weights.
    reals: Vec<f32>,
    /// What they are with what errors ahead of them add.
    wanted: Vec<f32>,
    columns: usize,
    block: usize,
}

impl Rows {
    fn round(mut self, grid: &Grid, factor: &Factor, (integers, scales): (&mut [u8], &[f32])) {
        let mut roundings = Vec::new();
        for column in 0..self.columns {
            if column.is_multiple_of(self.block) {
                roundings = self.of_blocks(grid, column, scales);
            }
            for (row, (rounding, scale)) in roundings.iter().enumerate() {
                self.element(row * self.columns + column, rounding, *scale, factor.behind(column), integers);
            }
        }
    }

    /// The rounding of the blocks that begin at a column, with their scales.
    fn of_blocks(&self, grid: &Grid, column: usize, scales: &[f32]) -> Vec<(Rounding, f32)> {
        let block = scales.iter().skip(column / self.block).step_by(self.columns / self.block);
        block.map(|scale| (Rounding::new(Parameters { scale: *scale, zero_point: 0 }, grid.bounds), *scale)).collect()
    }

    /// Rounds an element, and adds to those behind it in its row.
    fn element(&mut self, at: usize, rounding: &Rounding, scale: f32, behind: &[f32], integers: &mut [u8]) {
        let (Some(real), Some(wanted)) = (self.reals.get(at), self.wanted.get(at)) else { return };
        let integer = rounding.integer(*wanted);
        let error = real - integer * scale;
        if let Some(slot) = integers.get_mut(at) {
            *slot = (integer as i8).cast_unsigned();
        }
        let others = self.wanted.get_mut(at + 1..at + 1 + behind.len()).unwrap_or_default();
        others.iter_mut().zip(behind).for_each(|(other, share)| *other += error * share);
    }
}

#[cfg(test)]
mod tests {
    use et_core::ScalarType;

    use super::*;
    use crate::Observer;
    use crate::parameters::Bounds;
    use crate::weight;

    const COLUMNS: usize = 96;
    const GROUP: usize = 32;

    fn stored(reals: &[f32]) -> Vec<u8> {
        reals.iter().flat_map(|real| real.to_le_bytes()).collect()
    }

    fn weights(rows: usize) -> Vec<f32> {
        (0..rows * COLUMNS).map(|index| (index * 7919 % 1009) as f32 / 500.0 - 1.0).collect()
    }

    /// Vectors of a few causes, so that their elements depend on each other.
    fn vectors() -> Vec<Vec<f32>> {
        let cause = |at: usize, which: usize| ((at * (which + 3) * 17) % 23) as f32 - 11.0;
        let share = |index: usize, which: usize| ((index * (which + 2) * 13) % 7) as f32 - 3.0;
        let element = |at: usize, index: usize| (0..6).map(|which| cause(at, which) * share(index, which)).sum();
        (0..400).map(|at| (0..COLUMNS).map(|index| element(at, index)).collect()).collect()
    }

    fn factor(vectors: &[Vec<f32>]) -> Factor {
        let moment = |row: usize, column: usize| vectors.iter().map(|vector| vector[row] * vector[column]).sum::<f32>();
        let triangle = (0..COLUMNS).flat_map(|row| (row..COLUMNS).map(move |column| (row, column)));
        let moments: Vec<f32> = triangle.map(|(row, column)| moment(row, column)).collect();
        Factor::of(&stored(&moments), COLUMNS).unwrap()
    }

    fn rounded(reals: &[f32], factor: Option<&Factor>) -> Vec<f32> {
        let grid = Grid::of_groups(Bounds::WEIGHT4, Observer::MinMax, COLUMNS / GROUP);
        let bytes = stored(reals);
        let elements = Elements::new(ScalarType::Float, &bytes).unwrap();
        let (mut integers, mut scales) = (vec![0; reals.len()], vec![0.0; reals.len() / GROUP]);
        let out = (&mut integers[..], &mut scales[..]);
        match factor {
            Some(factor) => quantize(elements, ([COLUMNS, GROUP], 0), (&grid, factor), out),
            None => weight::quantize(elements, (GROUP, 0), &grid, out),
        }
        assert!(integers.iter().all(|integer| (-8..=7).contains(&integer.cast_signed())));
        let each = integers.iter().enumerate();
        each.map(|(at, integer)| f32::from(integer.cast_signed()) * scales[at / GROUP]).collect()
    }

    /// The mean square difference of products.
    fn loss(reals: &[f32], rounded: &[f32], vectors: &[Vec<f32>]) -> f32 {
        let rows = reals.chunks_exact(COLUMNS).zip(rounded.chunks_exact(COLUMNS));
        let of_row = |(reals, rounded): (&[f32], &[f32])| -> f32 {
            let error: Vec<f32> = reals.iter().zip(rounded).map(|(real, rounded)| real - rounded).collect();
            let product = |vector: &Vec<f32>| vector.iter().zip(&error).map(|(x, error)| x * error).sum::<f32>();
            vectors.iter().map(|vector| product(vector).powi(2)).sum()
        };
        rows.map(of_row).sum()
    }

    #[test]
    fn products_lose_less_than_with_plain_rounding() {
        let (reals, vectors) = (weights(20), vectors());
        let losses = [None, Some(&factor(&vectors))].map(|factor| loss(&reals, &rounded(&reals, factor), &vectors));
        assert!(losses[1] < 0.3 * losses[0], "{losses:?}");
    }

    #[test]
    fn where_elements_are_independent_it_is_plain_rounding() {
        let reals = weights(3);
        let units: Vec<Vec<f32>> =
            (0..COLUMNS).map(|at| (0..COLUMNS).map(|index| if index == at { 2.0 } else { 0.0 }).collect()).collect();
        assert_eq!(rounded(&reals, Some(&factor(&units))), rounded(&reals, None));
    }

    #[test]
    fn rows_do_not_know_each_other() {
        let (reals, factor) = (weights(2 * ROWS + 1), factor(&vectors()));
        let alone: Vec<f32> = reals.chunks(COLUMNS).flat_map(|row| rounded(row, Some(&factor))).collect();
        assert_eq!(rounded(&reals, Some(&factor)), alone);
    }
}
