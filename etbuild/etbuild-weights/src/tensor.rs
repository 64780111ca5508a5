//! Where the elements of a tensor lie in a file.

use std::sync::Arc;

use et_core::ScalarType;
use etbuild_ir::Buffer;

use crate::reals;

/// Where the elements of a tensor lie.
#[derive(Clone)]
pub struct Tensor {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The size of each dimension.
    pub shape: Vec<usize>,
    /// The shard.
    pub shard: Arc<dyn Buffer>,
    /// Where in it the elements begin.
    pub start: usize,
}

/// So many elements are compared at a time.
const COMPARED: usize = 1 << 16;

impl Tensor {
    /// Whether the numbers are those of another tensor, of whichever type.
    pub fn has_numbers_of(&self, other: &Self) -> bool {
        let same = |(left, right): (&[u8], &[u8])| {
            reals::read(self.scalar_type, left) == reals::read(other.scalar_type, right)
        };
        self.shape == other.shape && self.pieces().zip(other.pieces()).all(same)
    }

    /// Whether all numbers are zero.
    pub fn is_zero(&self) -> bool {
        let is_zero = |piece: &[u8]| reals::read(self.scalar_type, piece).iter().all(|number| *number == 0.0);
        self.pieces().all(is_zero)
    }

    /// So many elements from `first` on, as `float32`; `None` beyond the end of the file.
    pub fn floats(&self, first: usize, count: usize) -> Option<Vec<f32>> {
        let size = self.scalar_type.size();
        let start = self.start + first * size;
        let bytes = self.shard.bytes().get(start..start + count * size)?;
        Some(reals::read(self.scalar_type, bytes))
    }

    /// A part of a stack by the index in the first dimension.
    pub fn of_stack(&self, index: usize) -> Self {
        let shape = self.shape.get(1..).unwrap_or_default().to_vec();
        let length = shape.iter().product::<usize>() * self.scalar_type.size();
        Self { shape, shard: self.shard.clone(), start: self.start + index * length, ..*self }
    }

    /// The bytes, in pieces of whole elements.
    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let size = self.scalar_type.size();
        let length = self.shape.iter().product::<usize>() * size;
        let bytes = self.shard.bytes().get(self.start..self.start + length).unwrap_or_default();
        bytes.chunks(COMPARED * size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(scalar_type: ScalarType, bytes: &[u8]) -> Tensor {
        let shape = vec![2, bytes.len() / scalar_type.size() / 2];
        Tensor { scalar_type, shape, shard: Arc::new([&[7], bytes].concat()), start: 1 }
    }

    #[test]
    fn numbers_are_those_of_another_type() {
        let stored = |numbers: &[f32]| tensor(ScalarType::Float, &reals::stored(numbers));
        let halves = tensor(ScalarType::Half, &[0x00, 0x3c, 0x00, 0xb8]);
        assert!(halves.has_numbers_of(&stored(&[1.0, -0.5])) && !halves.has_numbers_of(&stored(&[1.0, 0.5])));
        assert!(stored(&[0.0, -0.0]).is_zero() && !halves.is_zero());
        assert_eq!((halves.floats(0, 2), halves.of_stack(1).floats(0, 1)), (Some(vec![1.0, -0.5]), Some(vec![-0.5])));
        assert_eq!((halves.floats(1, 1), halves.floats(1, 2)), (Some(vec![-0.5]), None));
    }
}
