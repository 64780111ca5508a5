//! Rotation of what layers hand on to each other: an orthogonal matrix that spreads outliers over all elements.
//!
//! Weights absorb it (Ashkboos et al. 2024, QuaRot; Liu et al. 2024, SpinQuant): a matrix that makes vectors of the
//! rotated space is rotated, and a matrix that reads vectors is rotated back, so that the outputs of the model stay. Root mean squares stay too.

/// Which rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rotation {
    /// Walsh and Hadamard's matrix for the power of two in the number of elements, times a reflection for the rest of it.
    Hadamard,
}

/// The matrix for a space of so many elements. The matrix is symmetric and its own inverse.
///
/// With `n = odd * even`, `even` the greatest power of two in `n`, it is the Kronecker product of `I - 2/odd` (Householder's
/// reflection along the vector of ones; 1 where `odd` is 1) and of Sylvester's Hadamard matrix divided by the root of `even`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    even: usize,
    odd: usize,
}

impl Space {
    /// The space of `size` elements, one at least.
    pub fn new(size: usize) -> Self {
        let even = 1 << size.max(1).trailing_zeros();
        Self { even, odd: size.max(1) / even }
    }

    /// The elements of a vector.
    pub const fn size(self) -> usize {
        self.even * self.odd
    }

    /// Rotates vectors of this space. `data` has groups of `lanes` vectors, in which the elements with the same index are neighbours.
    pub fn rotate(self, data: &mut [f32], lanes: usize) {
        for block in data.chunks_exact_mut(self.size() * lanes) {
            for even in block.chunks_exact_mut(self.even * lanes) {
                hadamard(even, lanes);
            }
            let scale = 1.0 / (self.even as f32).sqrt();
            block.iter_mut().for_each(|element| *element *= scale);
            self.reflect(block, lanes);
        }
    }

    /// Takes twice the mean over the odd factor from each element.
    fn reflect(self, block: &mut [f32], lanes: usize) {
        if self.odd == 1 {
            return;
        }
        let length = self.even * lanes;
        let mut means = vec![0.0_f32; length];
        for part in block.chunks_exact(length) {
            means.iter_mut().zip(part).for_each(|(mean, element)| *mean += element);
        }
        means.iter_mut().for_each(|mean| *mean *= 2.0 / self.odd as f32);
        for part in block.chunks_exact_mut(length) {
            part.iter_mut().zip(&means).for_each(|(element, mean)| *element -= mean);
        }
    }
}

/// Sylvester's matrix times vectors of a power of two elements, in place: sums and differences of halves.
fn hadamard(data: &mut [f32], lanes: usize) {
    let mut half = lanes;
    while half < data.len() {
        for pair in data.chunks_exact_mut(2 * half) {
            let (left, right) = pair.split_at_mut(half);
            for (left, right) in left.iter_mut().zip(right) {
                (*left, *right) = (*left + *right, *left - *right);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(size: usize) -> Vec<f32> {
        (0..size).map(|index| (index * 37 % 41) as f32 - 20.0).collect()
    }

    #[test]
    fn four_elements_have_hadamards_matrix() {
        let mut unit = vec![0.0, 1.0, 0.0, 0.0];
        Space::new(4).rotate(&mut unit, 1);
        assert_eq!(unit, [0.5, -0.5, 0.5, -0.5]);
    }

    #[test]
    fn twice_is_nothing_and_lengths_stay_for_any_size() {
        for size in [1, 3, 6, 7, 8, 48, 576] {
            let (first, mut rotated) = (vector(size), vector(size));
            Space::new(size).rotate(&mut rotated, 1);
            let square = |vector: &[f32]| vector.iter().map(|element| element * element).sum::<f32>();
            assert!((square(&first) - square(&rotated)).abs() < 1e-3 * square(&first), "{size}");
            assert!(size == 1 || first != rotated, "{size}");
            Space::new(size).rotate(&mut rotated, 1);
            let differs = first.iter().zip(&rotated).any(|(first, again)| (first - again).abs() > 1e-4);
            assert!(!differs, "{size}: {rotated:?}");
        }
    }

    #[test]
    fn an_outlier_is_spread() {
        let mut outlier = vec![0.0; 64];
        outlier[13] = 8.0;
        Space::new(64).rotate(&mut outlier, 1);
        assert!(outlier.iter().all(|element| element.abs() == 1.0));
    }

    #[test]
    fn lanes_are_vectors_side_by_side() {
        let [mut left, mut right] = [vector(12), vector(24)[12..].to_vec()];
        let mut both: Vec<f32> = left.iter().zip(&right).flat_map(|(left, right)| [*left, *right]).collect();
        Space::new(12).rotate(&mut both, 2);
        Space::new(12).rotate(&mut left, 1);
        Space::new(12).rotate(&mut right, 1);
        let expected: Vec<f32> = left.iter().zip(&right).flat_map(|(left, right)| [*left, *right]).collect();
        assert_eq!(both, expected);
    }
}
