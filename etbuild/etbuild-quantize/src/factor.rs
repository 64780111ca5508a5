//! The factor that distributes rounding errors: a factorization of the second moments of activations.

use rayon::prelude::*;

/// The columns of a block: a block and the columns it reads stay in the L2 cache.
const BLOCK: usize = 64;

/// The damping of the diagonal, relative to the mean of the diagonal. Limits corrections from few samples.
const DAMPING: f32 = 0.01;

/// The number of attempts, each with ten times the damping, when rounding errors break the factorization.
const ATTEMPTS: i32 = 4;

/// The strictly upper matrix `U` of `H = (U + 1) D (U + 1)^T`. With the errors `e` of the weights before `j`, the
/// best value to round for weight `j` is the weight plus `e U[.., j]` (Frantar et al. 2022, GPTQ, in the form of Chee
/// et al. 2023, QuIP).
#[derive(Debug)]
pub struct Factor {
    size: usize,
    /// The full matrix, row-major.
    elements: Vec<f32>,
}

impl Factor {
    /// Factors moments: the rows of the upper triangle, `float32`. `None` for a wrong number of elements or a number
    /// that is not finite.
    pub fn of(moments: &[u8], size: usize) -> Option<Self> {
        let moments: Vec<f32> = moments.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if size == 0 || moments.len() != size * (size + 1) / 2 || moments.iter().any(|moment| !moment.is_finite()) {
            return None;
        }
        (0..ATTEMPTS).find_map(|attempt| factored(&moments, size, DAMPING * 10.0_f32.powi(attempt)))
    }

    /// The contributions of an error of weight `column` to the weights to the right.
    pub fn behind(&self, column: usize) -> &[f32] {
        let row = column * self.size;
        self.elements.get(row + column + 1..row + self.size).unwrap_or_default()
    }
}

fn factored(moments: &[f32], size: usize, damping: f32) -> Option<Factor> {
    let mut elements = damped(moments, size, damping);
    for start in (0..size).step_by(BLOCK).rev() {
        columns(&mut elements, size, start, (start + BLOCK).min(size))?;
    }
    let diagonal: Vec<f32> = elements.iter().step_by(size + 1).copied().collect();
    elements.par_chunks_mut(size).for_each(|row| {
        row.iter_mut().zip(&diagonal).for_each(|(element, diagonal)| *element /= diagonal);
    });
    Some(Factor { size, elements })
}

/// The full matrix of a triangle, with a damped diagonal. Elements below the diagonal are never read.
fn damped(moments: &[f32], size: usize, damping: f32) -> Vec<f32> {
    let (mut elements, mut rest) = (vec![0.0; size * size], moments);
    for (index, row) in elements.chunks_exact_mut(size).enumerate() {
        let (own, others) = rest.split_at((size - index).min(rest.len()));
        row.iter_mut().skip(index).zip(own).for_each(|(to, from)| *to = *from);
        rest = others;
    }
    let mean = elements.iter().step_by(size + 1).map(|element| f64::from(*element)).sum::<f64>() / size as f64;
    // Without samples, any positive diagonal is right.
    let more = if mean > 0.0 { mean as f32 * damping } else { 1.0 };
    elements.iter_mut().step_by(size + 1).for_each(|element| *element += more);
    elements
}

/// Replaces columns `start..end` of `H = R R^T` by columns of the upper factor `R`, given the columns to the right.
/// `None` for a pivot that is not positive.
fn columns(elements: &mut [f32], size: usize, start: usize, end: usize) -> Option<()> {
    let rows = elements.get_mut(..end * size)?;
    let behind: Vec<Vec<f32>> = rows.chunks_exact(size).skip(start).map(|row| part(row, end, size).to_vec()).collect();
    rows.par_chunks_mut(size).enumerate().for_each(|(index, row)| {
        let (front, tail) = row.split_at_mut(end);
        // Elements below the diagonal are never read.
        let own = front.iter_mut().enumerate().skip(start).zip(&behind);
        own.filter(|((column, _), _)| *column >= index)
            .for_each(|((_, element), behind)| *element -= dot(tail, behind));
    });
    let (above, block) = rows.split_at_mut(start * size);
    let lines = diagonal(block, size, start, end)?;
    above.par_chunks_mut(size).for_each(|row| lines.iter().for_each(|line| line.solve(row, end)));
    Some(())
}

/// A row of the diagonal block.
struct Line {
    column: usize,
    root: f32,
    /// The elements right of the pivot, up to the end of the block.
    rest: Vec<f32>,
}

impl Line {
    /// Computes the element of this column in a row above, given the elements to the right up to `end`.
    fn solve(&self, row: &mut [f32], end: usize) {
        let made = dot(part(row, self.column + 1, end), &self.rest);
        if let Some(element) = row.get_mut(self.column) {
            *element = (*element - made) / self.root;
        }
    }
}

/// Factors the diagonal block; the last column is the first line.
fn diagonal(block: &mut [f32], size: usize, start: usize, end: usize) -> Option<Vec<Line>> {
    let mut lines = Vec::with_capacity(end - start);
    for column in (start..end).rev() {
        let (above, own) = block.split_at_mut((column - start) * size);
        let rest = part(own, column + 1, end).to_vec();
        let square = own.get(column)? - dot(&rest, &rest);
        let line = Line { column, root: Some(square.sqrt()).filter(|root| *root > 0.0)?, rest };
        *own.get_mut(column)? = line.root;
        above.chunks_exact_mut(size).for_each(|row| line.solve(row, end));
        lines.push(line);
    }
    Some(lines)
}

fn part(row: &[f32], start: usize, end: usize) -> &[f32] {
    row.get(start..end).unwrap_or_default()
}

/// The dot product in `float64`, in a fixed order.
fn dot(left: &[f32], right: &[f32]) -> f32 {
    let (mut sums, (lefts, rest), (rights, other)) = ([0.0_f64; 8], left.as_chunks::<8>(), right.as_chunks::<8>());
    for (left, right) in lefts.iter().zip(rights) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += f64::from(*left) * f64::from(*right);
        }
    }
    let rest: f64 = rest.iter().zip(other).map(|(left, right)| f64::from(*left) * f64::from(*right)).sum();
    (sums.iter().sum::<f64>() + rest) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moments of correlated vectors.
    fn moments(size: usize) -> Vec<f32> {
        let vectors: Vec<Vec<f32>> = (0..3 * size)
            .map(|at| (0..size).map(|index| ((at * 31 + index * (at % 7 + 1)) % 19) as f32 - 9.0).collect())
            .collect();
        let moment = |row: usize, column: usize| vectors.iter().map(|vector| vector[row] * vector[column]).sum();
        (0..size)
            .flat_map(|row| (row..size).map(move |column| (row, column)))
            .map(|(row, column)| moment(row, column))
            .collect()
    }

    fn stored(moments: &[f32]) -> Vec<u8> {
        moments.iter().flat_map(|moment| moment.to_le_bytes()).collect()
    }

    #[test]
    fn the_factors_multiply_to_the_damped_matrix() {
        for size in [1, 5, 64, 150] {
            let moments = moments(size);
            let (factor, wanted) = (Factor::of(&stored(&moments), size).unwrap(), damped(&moments, size, DAMPING));
            let unit = |row: usize, column: usize| match row.cmp(&column) {
                std::cmp::Ordering::Less => f64::from(factor.behind(row)[column - row - 1]),
                std::cmp::Ordering::Equal => 1.0,
                std::cmp::Ordering::Greater => 0.0,
            };
            // The diagonal matrix, from the last column to the first.
            let mut scales = vec![0.0; size];
            for row in (0..size).rev() {
                let rest: f64 = (row + 1..size).map(|at| unit(row, at).powi(2) * scales[at]).sum();
                scales[row] = f64::from(wanted[row * size + row]) - rest;
                assert!(scales[row] > 0.0);
            }
            let largest = wanted.iter().fold(0.0_f32, |most, element| most.max(element.abs()));
            for row in 0..size {
                for column in row..size {
                    let got: f64 = (column..size).map(|at| unit(row, at) * scales[at] * unit(column, at)).sum();
                    let wanted = wanted[row * size + column];
                    assert!((got as f32 - wanted).abs() < 1e-4 * largest, "{size}: {row} {column} {got} {wanted}");
                }
            }
        }
    }

    #[test]
    fn zero_moments_give_no_corrections() {
        let factor = Factor::of(&stored(&[0.0; 6]), 3).unwrap();
        assert_eq!(factor.behind(0), [0.0, 0.0]);
    }

    #[test]
    fn moments_of_the_wrong_length_or_not_finite_are_refused() {
        assert!(Factor::of(&stored(&[1.0; 5]), 3).is_none() && Factor::of(&[], 0).is_none());
        assert!(Factor::of(&stored(&[f32::NAN]), 1).is_none());
    }
}
