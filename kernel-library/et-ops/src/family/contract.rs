//! Sums of products.

use et_core::{Input, Result, Shape, Tensor};

use super::opmath::Opmath;
use crate::operator::dispatch;

/// Elements at equal distances.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a, T> {
    /// The elements of the whole tensor.
    pub elements: Input<'a, T>,
    /// The offset of the first.
    pub start: usize,
    /// From one to the next.
    pub step: usize,
}

/// Adds the products of the first `count` pairs to `sum`, in order.
#[inline]
pub fn dot<T: Opmath>(sum: T::Math, left: Run<'_, T>, right: Run<'_, T>, count: usize) -> T::Math {
    if (left.step, right.step) == (1, 1) && count > 0 {
        let (left, right) = (left.elements.window(left.start, count), right.elements.window(right.start, count));
        return (0..count).fold(sum, |sum, index| product(sum, left.get(index), right.get(index)));
    }
    (0..count).fold(sum, |sum, index| {
        let (left_at, right_at) = (left.start + index * left.step, right.start + index * right.step);
        product(sum, left.elements.get(left_at), right.elements.get(right_at))
    })
}

#[inline(always)]
fn product<T: Opmath>(sum: T::Math, left: T, right: T) -> T::Math {
    use et_core::Number;
    sum.plus(left.raise().times(right.raise()))
}

/// A matrix in a tensor.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    /// The elements of the whole tensor.
    pub elements: Input<'a, T>,
    /// The offset of the first element.
    pub start: usize,
    /// From one row to the next, and from one column to the next.
    pub steps: [usize; 2],
}

impl<T> Matrix<'_, T> {
    /// The same elements with rows and columns exchanged.
    #[must_use]
    pub fn transposed(self) -> Self {
        let [rows, columns] = self.steps;
        Self { steps: [columns, rows], ..self }
    }
}

/// Gives each element of `left @ right` to `store`, with its row and column. `[rows, inner, columns]` are the sizes.
pub fn multiply<T: Opmath>(
    [rows, inner, columns]: [usize; 3],
    left: Matrix<'_, T>,
    right: Matrix<'_, T>,
    store: impl Fn(usize, usize, T::Math),
) {
    for row in 0..rows {
        for column in 0..columns {
            let left_start = left.start + row * left.steps[0];
            let right_start = right.start + column * right.steps[1];
            let left = Run { elements: left.elements, start: left_start, step: left.steps[1] };
            let right = Run { elements: right.elements, start: right_start, step: right.steps[0] };
            store(row, column, dot(<T::Math as et_core::Number>::ZERO, left, right, inner));
        }
    }
}

/// The shape of the product of two matrices.
pub fn product_shape(left: &Shape, right: &Shape) -> Result<Shape> {
    match (left.sizes(), right.sizes()) {
        ([rows, inner], [right_inner, columns]) if inner == right_inner => Shape::new(&[*rows, *columns]),
        _ => Err(et_core::Error::InvalidArgument),
    }
}

/// Stores the product of two matrices in `out`.
pub fn matrix_product<const D: u32>(left: &Tensor<'_>, right: &Tensor<'_>, out: &Tensor<'_>) -> Result<()> {
    let (left_shape, right_shape) = (left.shape(), right.shape());
    out.resize(&product_shape(&left_shape, &right_shape)?)?;
    let sizes = [left_shape.size(0), left_shape.size(1), right_shape.size(1)];
    let [row_step, column_step] = matrix_steps(out, 0);
    dispatch!(D, out.scalar_type(), numbers, T => {
        let to = out.output::<T>()?;
        let (left, right) = (matrix::<T>(left)?, matrix::<T>(right)?);
        multiply(sizes, left, right, |row, column, sum| to.set(row * row_step + column * column_step, T::lower(sum)));
        Ok(())
    })
}

/// All of a tensor of rank 2.
pub fn matrix<'a, T: Opmath>(tensor: &Tensor<'a>) -> Result<Matrix<'a, T>> {
    Ok(Matrix { elements: tensor.input()?, start: 0, steps: matrix_steps(tensor, 0) })
}

/// The strides of dimensions `first` and the next.
pub fn matrix_steps(tensor: &Tensor<'_>, first: usize) -> [usize; 2] {
    let strides = tensor.strides();
    [strides[first], strides[first + 1]]
}
