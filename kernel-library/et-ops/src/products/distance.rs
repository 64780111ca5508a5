//! Distances between vectors: norms of their differences.

use crate::family::opmath::Opmath;
use crate::math::Math;

/// Which norm: `p` of `(sum of |x|^p)^(1/p)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norm(f64);

impl Norm {
    /// The `p`-norm, for `p >= 0`: 0 counts the nonzero differences, infinity takes the maximum.
    pub fn new(p: f64) -> Option<Self> {
        (p >= 0.0).then_some(Self(p))
    }

    /// The norm of these differences.
    pub fn of<M: Math>(self, differences: impl Iterator<Item = M>) -> M {
        let sizes = differences.map(|difference| if difference < M::ZERO { difference.negated() } else { difference });
        match self.0 {
            0.0 => sizes.fold(M::ZERO, |sum, size| if size == M::ZERO { sum } else { sum + M::ONE }),
            1.0 => sizes.fold(M::ZERO, |sum, size| sum + size),
            2.0 => sizes.fold(M::ZERO, |sum, size| sum + size * size).sqrt(),
            f64::INFINITY => sizes.fold(M::ZERO, |best, size| if size > best || size.is_nan() { size } else { best }),
            p => {
                let sum = sizes.fold(M::ZERO, |sum, size| sum + size.pow(M::from_f64(p)));
                sum.pow(M::from_f64(1.0 / p))
            }
        }
    }
}

/// A vector: elements at equal distances.
#[derive(Clone, Copy, Debug)]
pub struct Vector<'a, T> {
    /// The elements of the whole tensor.
    pub elements: et_core::Input<'a, T>,
    /// The offset of the first.
    pub start: usize,
    /// The stride between neighbouring elements.
    pub step: usize,
}

/// The distance of two vectors of `length` elements.
pub fn distance<T: Opmath>(norm: Norm, left: Vector<'_, T>, right: Vector<'_, T>, length: usize) -> T
where
    T::Math: Math,
{
    let element = |vector: Vector<'_, T>, index: usize| vector.elements.get(vector.start + index * vector.step).raise();
    T::lower(norm.of((0..length).map(|index| element(left, index) - element(right, index))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_of_a_vector() {
        let of = |p: f64| Norm::new(p).unwrap().of([3.0_f64, 0.0, -4.0].into_iter());
        assert_eq!([of(0.0), of(1.0), of(2.0), of(f64::INFINITY)], [2.0, 7.0, 5.0, 4.0]);
        assert!((of(3.0) - 91.0_f64.cbrt()).abs() < 1e-12);
        assert_eq!(Norm::new(-1.0), None);
    }
}
