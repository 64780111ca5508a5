//! Matrices in tensors: the operands of GEMM.

use et_core::{Element, Input, Output, Result, Tensor};

use super::opmath::Opmath;

/// A matrix in a tensor.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    /// The elements of the whole tensor.
    pub elements: Input<'a, T>,
    /// The offset of the first element.
    pub start: usize,
    /// The strides of rows and of columns.
    pub steps: [usize; 2],
}

impl<T> Matrix<'_, T> {
    /// The transposed matrix, over the same elements.
    #[must_use]
    pub fn transposed(self) -> Self {
        let [rows, columns] = self.steps;
        Self { steps: [columns, rows], ..self }
    }
}

impl<'a, T: Element> Matrix<'a, T> {
    /// The same matrix, if `U` is `T`.
    pub fn of_type<U: Element>(self) -> Option<Matrix<'a, U>> {
        Some(Matrix { elements: self.elements.of_type()?, start: self.start, steps: self.steps })
    }
}

/// The output matrix of a GEMM.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a, T> {
    /// The elements of the whole tensor.
    pub elements: Output<'a, T>,
    /// The offset of the first element.
    pub start: usize,
    /// The strides of rows and of columns.
    pub steps: [usize; 2],
}

impl<'a, T: Element> Target<'a, T> {
    /// The whole of a tensor of rank 2.
    pub fn of(tensor: &Tensor<'a>) -> Result<Self> {
        Ok(Self { elements: tensor.output()?, start: 0, steps: matrix_steps(tensor, 0) })
    }

    /// The element in a row and a column.
    pub fn get(self, row: usize, column: usize) -> T {
        self.elements.get(self.start + row * self.steps[0] + column * self.steps[1])
    }

    /// Stores the element in a row and a column.
    pub fn set(self, row: usize, column: usize, element: T) {
        self.elements.set(self.start + row * self.steps[0] + column * self.steps[1], element);
    }

    /// The transposed matrix, over the same elements.
    #[must_use]
    pub const fn transposed(self) -> Self {
        let [rows, columns] = self.steps;
        Self { steps: [columns, rows], ..self }
    }

    /// Exchanges two rows of `columns` elements.
    pub fn swap_rows(self, one: usize, other: usize, columns: usize) {
        for column in 0..columns {
            let element = self.get(one, column);
            self.set(one, column, self.get(other, column));
            self.set(other, column, element);
        }
    }

    /// The same target, if `U` is `T`.
    pub fn of_type<U: Element>(self) -> Option<Target<'a, U>> {
        Some(Target { elements: self.elements.of_type()?, start: self.start, steps: self.steps })
    }
}

/// The whole of a tensor of rank 2.
pub fn matrix<'a, T: Opmath>(tensor: &Tensor<'a>) -> Result<Matrix<'a, T>> {
    Ok(Matrix { elements: tensor.input()?, start: 0, steps: matrix_steps(tensor, 0) })
}

/// The strides of dimensions `first` and the next.
pub fn matrix_steps(tensor: &Tensor<'_>, first: usize) -> [usize; 2] {
    let strides = tensor.strides();
    [strides[first], strides[first + 1]]
}
