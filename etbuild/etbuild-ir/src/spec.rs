//! What is known of a tensor at compile time.

use et_core::ScalarType;

/// Type, shape and layout of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorSpec {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The size of each dimension, outermost first; the largest that it can have where it is dynamic.
    pub sizes: Vec<i32>,
    /// The smallest size of each dimension; that of `sizes` where it is static.
    pub least: Vec<i32>,
    /// The dimensions in memory order, outermost first.
    pub dim_order: Vec<u8>,
}

impl TensorSpec {
    /// A row-major tensor.
    pub fn contiguous(scalar_type: ScalarType, sizes: impl Into<Vec<i32>>) -> Self {
        let sizes = sizes.into();
        let dim_order = (0..sizes.len()).map(|dim| dim as u8).collect();
        Self { scalar_type, least: sizes.clone(), sizes, dim_order }
    }

    /// The same tensor with dimensions that can be as small as `least` says.
    #[must_use]
    pub fn with_least(self, least: impl Into<Vec<i32>>) -> Self {
        Self { least: least.into(), ..self }
    }

    /// Gives a dimension a size that is known; `None` where there is no such dimension.
    pub fn set_size(&mut self, dim: usize, size: i32) -> Option<()> {
        *self.sizes.get_mut(dim)? = size;
        *self.least.get_mut(dim)? = size;
        Some(())
    }

    /// Makes a dimension larger; `None` where there is no such dimension or its size is too large.
    pub fn grow(&mut self, dim: usize, by: i32) -> Option<()> {
        for sizes in [&mut self.sizes, &mut self.least] {
            let size = sizes.get_mut(dim)?;
            *size = size.checked_add(by)?;
        }
        Some(())
    }

    /// Whether the size of a dimension is known at run time only.
    pub fn is_dynamic(&self) -> bool {
        self.least != self.sizes
    }

    /// The dimensions whose size is known at run time only.
    pub fn dynamic_dims(&self) -> impl Iterator<Item = usize> + '_ {
        let pairs = self.sizes.iter().zip(&self.least).enumerate();
        pairs.filter(|(_, (most, least))| most != least).map(|(dim, _)| dim)
    }

    /// The largest number of elements; 1 for a scalar, the largest number for more than can be counted.
    pub fn numel(&self) -> usize {
        let sizes = self.sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0));
        sizes.fold(1, usize::saturating_mul)
    }

    /// The largest number of bytes that the elements take.
    pub fn nbytes(&self) -> usize {
        self.numel().saturating_mul(self.scalar_type.size())
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// Whether the elements lie in row-major order.
    pub fn is_contiguous(&self) -> bool {
        self.dim_order.iter().enumerate().all(|(position, dim)| position == usize::from(*dim))
    }
}
