//! GPTQ (Frantar et al. 2022): rounds the weights of a row from left to right and compensates the error of each
//! weight in the weights to the right. Scales are the scales of plain rounding, chosen before.

use rayon::prelude::*;

use crate::elements::Elements;
use crate::factor::Factor;
use crate::parameters::Parameters;
use crate::weight::{Grid, Rounding};

/// The rows of a job: the factor row of a column is read once for all rows.
const ROWS: usize = 16;

/// Quantizes rows of `columns` elements with a scale per `block` neighbours, on all processors. `first` is the number
/// of blocks before. The results have the length of the elements and of the blocks.
pub fn quantize(
    elements: Elements<'_>,
    ([columns, block], first): ([usize; 2], usize),
    (grid, factor): (&Grid, &Factor),
    (integers, scales): (&mut [u8], &mut [f32]),
) {
    let blocks = ROWS * columns / block;
    let jobs = integers.par_chunks_mut(ROWS * columns).zip(scales.par_chunks_mut(blocks)).enumerate();
    jobs.for_each(|(job, (integers, scales))| {
        let mut values = Vec::new();
        elements.part(job * ROWS * columns, integers.len()).widen(&mut values);
        grid.scales(&values, (block, first + job * blocks), scales);
        Rows { values: values.clone(), wanted: values, columns, block }.round(grid, factor, (integers, scales));
    });
}

/// Rows during quantization.
struct Rows {
    /// The original weights.
    values: Vec<f32>,
    /// The weights plus the compensation of earlier errors.
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

    /// The rounding and the scale of each block that starts at a column.
    fn of_blocks(&self, grid: &Grid, column: usize, scales: &[f32]) -> Vec<(Rounding, f32)> {
        let block = scales.iter().skip(column / self.block).step_by(self.columns / self.block);
        block.map(|scale| (Rounding::new(Parameters { scale: *scale, zero_point: 0 }, grid.bounds), *scale)).collect()
    }

    /// Rounds an element and compensates the error in the rest of the row.
    fn element(&mut self, at: usize, rounding: &Rounding, scale: f32, behind: &[f32], integers: &mut [u8]) {
        let (Some(value), Some(wanted)) = (self.values.get(at), self.wanted.get(at)) else { return };
        let integer = rounding.integer(*wanted);
        let error = value - integer * scale;
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

    fn stored(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn weights(rows: usize) -> Vec<f32> {
        (0..rows * COLUMNS).map(|index| (index * 7919 % 1009) as f32 / 500.0 - 1.0).collect()
    }

    /// Vectors with few independent causes, so that elements correlate.
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

    fn rounded(values: &[f32], factor: Option<&Factor>) -> Vec<f32> {
        let grid = Grid::of_groups((Bounds::WEIGHT4, 255), Observer::MinMax, COLUMNS / GROUP);
        let bytes = stored(values);
        let elements = Elements::new(ScalarType::Float, &bytes).unwrap();
        let (mut integers, mut scales) = (vec![0; values.len()], vec![0.0; values.len() / GROUP]);
        let out = (&mut integers[..], &mut scales[..]);
        match factor {
            Some(factor) => quantize(elements, ([COLUMNS, GROUP], 0), (&grid, factor), out),
            None => weight::quantize(elements, (GROUP, 0), &grid, out),
        }
        assert!(integers.iter().all(|integer| (-8..=7).contains(&integer.cast_signed())));
        let each = integers.iter().enumerate();
        each.map(|(at, integer)| f32::from(integer.cast_signed()) * scales[at / GROUP]).collect()
    }

    /// The mean square error of the products.
    fn loss(values: &[f32], rounded: &[f32], vectors: &[Vec<f32>]) -> f32 {
        let rows = values.chunks_exact(COLUMNS).zip(rounded.chunks_exact(COLUMNS));
        let of_row = |(values, rounded): (&[f32], &[f32])| -> f32 {
            let error: Vec<f32> = values.iter().zip(rounded).map(|(value, rounded)| value - rounded).collect();
            let product = |vector: &Vec<f32>| vector.iter().zip(&error).map(|(x, error)| x * error).sum::<f32>();
            vectors.iter().map(|vector| product(vector).powi(2)).sum()
        };
        rows.map(of_row).sum()
    }

    #[test]
    fn compensated_products_have_a_smaller_error_than_rounded_products() {
        let (values, vectors) = (weights(20), vectors());
        let losses = [None, Some(&factor(&vectors))].map(|factor| loss(&values, &rounded(&values, factor), &vectors));
        assert!(losses[1] < 0.3 * losses[0], "{losses:?}");
    }

    #[test]
    fn independent_elements_are_rounded_to_nearest() {
        let values = weights(3);
        let units: Vec<Vec<f32>> =
            (0..COLUMNS).map(|at| (0..COLUMNS).map(|index| if index == at { 2.0 } else { 0.0 }).collect()).collect();
        assert_eq!(rounded(&values, Some(&factor(&units))), rounded(&values, None));
    }

    #[test]
    fn rows_are_quantized_independently() {
        let (values, factor) = (weights(2 * ROWS + 1), factor(&vectors()));
        let alone: Vec<f32> = values.chunks(COLUMNS).flat_map(|row| rounded(row, Some(&factor))).collect();
        assert_eq!(rounded(&values, Some(&factor)), alone);
    }
}
