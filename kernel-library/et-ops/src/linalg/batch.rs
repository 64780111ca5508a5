//! Batches of matrices: the last two dimensions are rows and columns, the dimensions before are the batch.

use et_core::{Args, Element, Error, Result, Shape, Tensor};

use crate::Meta;
use crate::family::matrix::{Target, matrix_steps};
use crate::family::place::Place;
use crate::family::walk::Walk;

/// The batch dimensions, and the rows and columns.
#[derive(Clone, Copy)]
pub struct Batch {
    /// The sizes of the batch dimensions.
    pub shape: Shape,
    /// The rows of each matrix.
    pub rows: usize,
    /// The columns of each matrix.
    pub columns: usize,
}

impl Batch {
    /// The matrices of a tensor of rank 2 or more.
    pub fn of(tensor: &Tensor<'_>) -> Result<Self> {
        let shape = tensor.shape();
        let [batch @ .., rows, columns] = shape.sizes() else { return Err(Error::InvalidArgument) };
        Ok(Self { shape: Shape::new(batch)?, rows: *rows as usize, columns: *columns as usize })
    }

    /// As [`Batch::of`], of square matrices.
    pub fn square(tensor: &Tensor<'_>) -> Result<Self> {
        Self::of(tensor)
            .and_then(|batch| if batch.rows == batch.columns { Ok(batch) } else { Err(Error::InvalidArgument) })
    }

    /// The lesser of rows and columns.
    pub fn lesser(&self) -> usize {
        self.rows.min(self.columns)
    }

    /// The shape of the batch with further dimensions.
    pub fn with(&self, sizes: &[usize]) -> Result<Shape> {
        let mut shape = self.shape;
        sizes.iter().try_for_each(|size| shape.push(*size as i32))?;
        Ok(shape)
    }

    /// The type of argument 0 with the shape of the batch and further dimensions.
    pub fn meta(&self, args: &Args<'_, '_>, sizes: &[usize]) -> Result<Meta> {
        Ok(Meta { scalar_type: args.tensor(0)?.scalar_type(), shape: self.with(sizes)? })
    }

    /// Calls `visit` for each matrix, with its offset in each of the tensors, which share the batch dimensions.
    pub fn for_each<const N: usize>(&self, tensors: [&Tensor<'_>; N], mut visit: impl FnMut([usize; N])) -> Result<()> {
        Walk::over(&self.shape, tensors.map(Place::of))?.for_each(&mut visit as &mut dyn FnMut([usize; N]));
        Ok(())
    }

    /// The matrix at an offset in a tensor of this batch.
    pub fn target<'a, T: Element>(&self, tensor: &Tensor<'a>, start: usize) -> Result<Target<'a, T>> {
        Ok(Target { elements: tensor.output()?, start, steps: matrix_steps(tensor, self.shape.rank()) })
    }
}
