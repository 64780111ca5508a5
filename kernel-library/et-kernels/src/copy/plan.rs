//! Simplifies the dimensions of a strided copy.

use et_core::{Error, MAX_RANK, Result};

use crate::check::ensure;

/// A box of elements, with the strides and offsets of both tensors in elements.
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a> {
    /// The size of each dimension, at most [`MAX_RANK`] dimensions.
    pub sizes: &'a [usize],
    /// The input strides; 0 broadcasts.
    pub from: &'a [usize],
    /// The offset of the first input element.
    pub from_offset: usize,
    /// The output strides.
    pub to: &'a [usize],
    /// The offset of the first output element.
    pub to_offset: usize,
}

/// A dimension with the strides of both tensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimension {
    /// The size.
    pub size: usize,
    /// The input stride.
    pub from: usize,
    /// The output stride.
    pub to: usize,
}

/// Dimensions in the order of the output's memory, innermost last, maximally merged.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    dimensions: [Dimension; MAX_RANK],
    rank: usize,
}

impl Plan {
    /// Merges dimensions. Fails if the box exceeds the tensors' lengths; `None` for an empty box.
    pub fn new(strided: &Strided, input: usize, output: usize) -> Result<Option<Self>> {
        let Strided { sizes, from, to, .. } = *strided;
        ensure(sizes.len() <= MAX_RANK && from.len() == sizes.len() && to.len() == sizes.len())?;
        if sizes.contains(&0) {
            return Ok(None);
        }
        ensure(reach(sizes, from, strided.from_offset)? < input && reach(sizes, to, strided.to_offset)? < output)?;
        let mut plan = Self { dimensions: [Dimension::default(); MAX_RANK], rank: 0 };
        for ((size, from), to) in sizes.iter().zip(from).zip(to) {
            if *size > 1 {
                plan.insert(Dimension { size: *size, from: *from, to: *to });
            }
        }
        plan.join();
        Ok(Some(plan))
    }

    /// The dimensions, innermost last.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions[..self.rank]
    }

    /// Inserts a dimension in descending order of output strides.
    fn insert(&mut self, dimension: Dimension) {
        let place = self.dimensions().iter().position(|other| other.to < dimension.to).unwrap_or(self.rank);
        self.dimensions.copy_within(place..self.rank, place + 1);
        self.dimensions[place] = dimension;
        self.rank += 1;
    }

    fn join(&mut self) {
        let mut index = 1;
        while index < self.rank {
            let [outer, inner] = [self.dimensions[index - 1], self.dimensions[index]];
            if outer.from == inner.from * inner.size && outer.to == inner.to * inner.size {
                self.dimensions[index - 1] = Dimension { size: outer.size * inner.size, ..inner };
                self.dimensions.copy_within(index + 1..self.rank, index);
                self.rank -= 1;
            } else {
                index += 1;
            }
        }
    }
}

/// The offset of the last element.
fn reach(sizes: &[usize], strides: &[usize], offset: usize) -> Result<usize> {
    let steps = sizes.iter().zip(strides);
    steps
        .map(|(size, stride)| (size - 1).checked_mul(*stride))
        .try_fold(offset, |reach, step| reach.checked_add(step?))
        .ok_or(Error::InvalidArgument)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    fn plan(sizes: &[usize], from: &[usize], to: &[usize]) -> Vec<Dimension> {
        let strided = Strided { sizes, from, from_offset: 0, to, to_offset: 0 };
        Plan::new(&strided, 1000, 1000).unwrap().unwrap().dimensions().to_vec()
    }

    #[test]
    fn dimensions_that_step_alike_are_one() {
        assert_eq!(plan(&[2, 3, 4], &[12, 4, 1], &[12, 4, 1]), [Dimension { size: 24, from: 1, to: 1 }]);
        assert_eq!(plan(&[2, 1, 4], &[4, 9, 1], &[4, 7, 1]), [Dimension { size: 8, from: 1, to: 1 }]);
        let exchanged = [Dimension { size: 12, from: 1, to: 5 }, Dimension { size: 5, from: 12, to: 1 }];
        assert_eq!(plan(&[5, 3, 4], &[12, 4, 1], &[1, 20, 5]), exchanged);
        assert_eq!(plan(&[1], &[1], &[1]), vec![]);
    }

    #[test]
    fn boxes_are_within_both_tensors() {
        let strided = Strided { sizes: &[2, 3], from: &[3, 1], from_offset: 1, to: &[3, 1], to_offset: 0 };
        assert!(Plan::new(&strided, 7, 6).is_ok());
        assert!(Plan::new(&strided, 6, 6).is_err());
        assert!(Plan::new(&strided, 7, 5).is_err());
        assert!(Plan::new(&Strided { from: &[usize::MAX, 1], ..strided }, 7, 6).is_err());
        assert!(Plan::new(&Strided { sizes: &[2, 0], ..strided }, 0, 0).unwrap().is_none());
    }
}
