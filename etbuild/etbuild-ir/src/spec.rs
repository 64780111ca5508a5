//! Tensor specs: the compile-time properties of tensors.

use et_core::ScalarType;

/// Type, shape and layout of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorSpec {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The size of each dimension, outermost first; the maximum of a dynamic size.
    pub sizes: Vec<i32>,
    /// The minimum size of each dimension; equal to `sizes` for a static size.
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

    /// The tensor with dynamic sizes, `least` as minimum.
    #[must_use]
    pub fn with_least(self, least: impl Into<Vec<i32>>) -> Self {
        Self { least: least.into(), ..self }
    }

    /// Makes a size static; `None` where the dimension does not exist.
    pub fn set_size(&mut self, dim: usize, size: i32) -> Option<()> {
        *self.sizes.get_mut(dim)? = size;
        *self.least.get_mut(dim)? = size;
        Some(())
    }

    /// Enlarges a dimension; `None` where the dimension does not exist or the size overflows.
    pub fn grow(&mut self, dim: usize, by: i32) -> Option<()> {
        for sizes in [&mut self.sizes, &mut self.least] {
            let size = sizes.get_mut(dim)?;
            *size = size.checked_add(by)?;
        }
        Some(())
    }

    /// Whether a size is dynamic.
    pub fn is_dynamic(&self) -> bool {
        self.least != self.sizes
    }

    /// The dynamic dimensions.
    pub fn dynamic_dims(&self) -> impl Iterator<Item = usize> + '_ {
        let pairs = self.sizes.iter().zip(&self.least).enumerate();
        pairs.filter(|(_, (most, least))| most != least).map(|(dim, _)| dim)
    }

    /// Whether a tensor can have both specs: one type and layout, and bounds that overlap.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let bounds = |spec: &Self| spec.least.iter().copied().zip(spec.sizes.iter().copied()).collect::<Vec<_>>();
        let overlap = |((least, most), (other_least, other_most)): ((i32, i32), (i32, i32))| {
            least <= other_most && other_least <= most
        };
        self.scalar_type == other.scalar_type
            && self.dim_order == other.dim_order
            && bounds(self).into_iter().zip(bounds(other)).all(overlap)
    }

    /// The maximum number of elements; 1 for a scalar. Saturates.
    pub fn numel(&self) -> usize {
        let sizes = self.sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0));
        sizes.fold(1, usize::saturating_mul)
    }

    /// The maximum number of bytes of the elements. Saturates.
    pub fn nbytes(&self) -> usize {
        self.numel().saturating_mul(self.scalar_type.size())
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// Whether the dim order is row-major.
    pub fn is_contiguous(&self) -> bool {
        self.dim_order.iter().enumerate().all(|(position, dim)| position == usize::from(*dim))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_agree_where_a_size_is_within_the_bounds_of_both() {
        let spec = |most: i32, least: i32| TensorSpec::contiguous(ScalarType::Float, [most, 3]).with_least([least, 3]);
        assert!(spec(8, 1).agrees_with(&spec(10, 4)));
        assert!(spec(8, 1).agrees_with(&spec(8, 8)));
        assert!(!spec(8, 1).agrees_with(&spec(10, 9)));
        assert!(!spec(8, 8).agrees_with(&spec(7, 7)));
        assert!(!spec(8, 8).agrees_with(&TensorSpec::contiguous(ScalarType::Float, [8])));
    }
}
