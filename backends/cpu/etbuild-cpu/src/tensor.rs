//! Tensors of lowering: a buffer, an offset and strides, so that views, permutations and slices copy no elements.

use et_core::ScalarType;
use et_cpu::{QParams, RowScales};
use etbuild_ir::TensorSpec;

/// The dtype of floating-point kernels.
pub const FLOAT: ScalarType = ScalarType::Float;

/// A buffer of tensor elements; the number of the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Buffer(pub u32);

/// A strided tensor in a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// The buffer of the elements.
    pub buffer: Buffer,
    /// The offset of the first element, in elements.
    pub offset: usize,
    /// The dtype.
    pub scalar_type: ScalarType,
    /// The per-tensor qparams of an int8 tensor; [`QParams::FLOAT`] for other tensors.
    pub qparams: QParams,
    /// The qparams of a dynamically quantized int8 tensor.
    pub row_scales: Option<RowScales>,
    /// The shape.
    pub sizes: Vec<usize>,
    /// The stride of each dimension, in elements.
    pub strides: Vec<usize>,
}

/// The strides of a contiguous tensor with memory order `order`, outermost dimension first.
pub fn dense_strides(sizes: &[usize], order: impl DoubleEndedIterator<Item = usize>) -> Vec<usize> {
    let mut strides = vec![0; sizes.len()];
    order.rev().fold(1, |step, dim| {
        strides[dim] = step;
        step * sizes[dim].max(1)
    });
    strides
}

impl Tensor {
    /// A tensor that fills a buffer with the strides of a spec.
    pub fn of_spec(buffer: Buffer, spec: &TensorSpec) -> Self {
        let sizes = spec.sizes.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect();
        Self::dense(buffer, spec.scalar_type, sizes, spec.dim_order.iter().map(|dim| usize::from(*dim)))
    }

    /// A contiguous tensor that fills a buffer, with memory order `order`.
    pub fn dense(
        buffer: Buffer,
        scalar_type: ScalarType,
        sizes: Vec<usize>,
        order: impl DoubleEndedIterator<Item = usize>,
    ) -> Self {
        let strides = dense_strides(&sizes, order);
        Self { buffer, offset: 0, scalar_type, qparams: QParams::FLOAT, row_scales: None, sizes, strides }
    }

    /// The number of elements.
    pub fn numel(&self) -> usize {
        self.sizes.iter().product()
    }

    /// The rows of the last dimension, and the elements of a row.
    pub fn rows_and_columns(&self) -> [usize; 2] {
        let columns = self.sizes.last().copied().unwrap_or(1);
        [self.numel().checked_div(columns).unwrap_or(0), columns]
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// Whether the tensor is contiguous in row-major order.
    pub fn is_row_major(&self) -> bool {
        self.is_dense(0..self.rank())
    }

    /// Whether the tensor is contiguous in NHWC order; channels are dimension 1 of 4.
    pub fn is_channels_last(&self) -> bool {
        self.rank() == 4 && self.is_dense([0, 2, 3, 1].into_iter())
    }

    /// Whether the tensor is contiguous with memory order `order`.
    fn is_dense(&self, order: impl DoubleEndedIterator<Item = usize>) -> bool {
        let expected = dense_strides(&self.sizes, order);
        let mut dims = self.sizes.iter().zip(&self.strides).zip(expected);
        dims.all(|((size, stride), expected)| *size <= 1 || *stride == expected)
    }

    /// The dimensions in memory order, outermost first; dimensions of equal stride keep their order.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.rank()).collect();
        let stride = |dim: &usize| if self.sizes[*dim] <= 1 { usize::MAX } else { self.strides[*dim] };
        order.sort_by_key(|dim| std::cmp::Reverse(stride(dim)));
        order
    }

    /// The tensor with permuted dimensions.
    #[must_use]
    pub fn permuted(&self, dims: &[usize]) -> Self {
        let pick = |of: &[usize]| dims.iter().map(|dim| of[*dim]).collect();
        Self { sizes: pick(&self.sizes), strides: pick(&self.strides), ..self.clone() }
    }

    /// A slice: every `step`-th element of a dimension from `start` on.
    #[must_use]
    pub fn sliced(&self, dim: usize, start: usize, size: usize, step: usize) -> Self {
        let mut sliced = self.clone();
        sliced.offset += start * self.strides[dim];
        sliced.sizes[dim] = size;
        sliced.strides[dim] *= step;
        sliced
    }

    /// The tensor at `index` of a dimension, without the dimension.
    #[must_use]
    pub fn selected(&self, dim: usize, index: usize) -> Self {
        let mut selected = self.sliced(dim, index, 1, 1);
        selected.sizes.remove(dim);
        selected.strides.remove(dim);
        selected
    }

    /// Broadcast along dimensions of size 1, and along new leading dimensions.
    #[must_use]
    pub fn expanded(&self, sizes: &[usize]) -> Self {
        let added = sizes.len() - self.rank();
        let stride = |dim: usize| match dim.checked_sub(added) {
            Some(own) if self.sizes[own] == sizes[dim] => self.strides[own],
            _ => 0,
        };
        Self { sizes: sizes.to_vec(), strides: (0..sizes.len()).map(stride).collect(), ..self.clone() }
    }

    /// The tensor without repetition: broadcast dimensions have size 1.
    #[must_use]
    pub fn without_repetition(&self) -> Self {
        let mut once = self.clone();
        for (size, stride) in once.sizes.iter_mut().zip(&mut once.strides).filter(|(_, stride)| **stride == 0) {
            (*size, *stride) = (1, 1);
        }
        once
    }

    /// Reshaped in row-major order; `None` where strides cannot express the shape.
    pub fn viewed(&self, sizes: &[usize]) -> Option<Self> {
        let strides = view_strides(self, sizes)?;
        Some(Self { sizes: sizes.to_vec(), strides, ..self.clone() })
    }
}

/// The strides of a view: uniformly strided dimensions are fused to runs, and runs are split to the new shape.
fn view_strides(tensor: &Tensor, sizes: &[usize]) -> Option<Vec<usize>> {
    let dims = tensor.sizes.iter().zip(&tensor.strides).map(|(size, stride)| (*size, [*stride]));
    let mut runs = fused_dims(dims);
    let mut strides = vec![0; sizes.len()];
    let mut run = runs.pop();
    let mut used = 1;
    for (dim, size) in sizes.iter().enumerate().rev() {
        if *size == 1 {
            continue;
        }
        while run.is_some_and(|(length, _)| used == length) {
            (run, used) = (runs.pop(), 1);
        }
        let (length, [step]) = run?;
        strides[dim] = step * used;
        used *= size;
        if length % used != 0 {
            return None;
        }
    }
    Some(strides)
}

/// Sizes and strides of dimensions, outermost first: neighbouring dimensions are fused where the strides of every operand are
/// uniform, and dimensions of size 1 are dropped.
pub fn fused_dims<S: AsRef<[usize]>>(dims: impl Iterator<Item = (usize, S)>) -> Vec<(usize, S)> {
    let mut fused: Vec<(usize, S)> = Vec::new();
    for (size, strides) in dims.filter(|(size, _)| *size != 1) {
        let mut pairs = fused.last().into_iter().flat_map(|(_, outer)| outer.as_ref().iter().zip(strides.as_ref()));
        let is_uniform = pairs.all(|(outer, own)| *outer == own * size);
        match fused.last_mut().filter(|_| is_uniform) {
            Some((length, outer)) => (*length, *outer) = (*length * size, strides),
            None => fused.push((size, strides)),
        }
    }
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(sizes: &[usize]) -> Tensor {
        Tensor::dense(Buffer(0), ScalarType::Float, sizes.to_vec(), 0..sizes.len())
    }

    #[test]
    fn rows_and_columns_of_an_image_with_inner_channels_are_one_dimension() {
        let image = tensor(&[1, 14, 14, 768]).permuted(&[0, 3, 1, 2]);
        assert!(image.is_channels_last() && !image.is_row_major());
        let view = image.viewed(&[1, 768, 196]).unwrap();
        assert_eq!(view.strides[1..], [1, 768]);
        assert!(view.permuted(&[0, 2, 1]).is_row_major());
        assert_eq!(image.viewed(&[1, 768 * 196]), None);
    }

    #[test]
    fn a_run_is_split_evenly_or_not_at_all() {
        let windows = tensor(&[8, 7, 8, 7, 3]);
        assert_eq!(windows.viewed(&[56, 56, 3]).unwrap().strides, [168, 3, 1]);
        assert_eq!(windows.permuted(&[0, 2, 1, 3, 4]).viewed(&[64, 49, 3]), None);
        assert_eq!(tensor(&[6]).sliced(0, 0, 3, 2).viewed(&[3, 1]).unwrap().strides, [2, 0]);
    }

    #[test]
    fn an_expanded_dimension_stays_where_it_is() {
        assert_eq!(tensor(&[3, 1]).expanded(&[2, 3, 4]).strides, [0, 1, 0]);
    }
}
