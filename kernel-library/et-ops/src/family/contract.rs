//! Dot products and GEMM.

use et_core::{Element, Input, Number, Result, Shape, Tensor};

use super::matrix::{Matrix, Target, matrix};
use super::opmath::{Opmath, Raise};
use super::tile::{Product, Right};
use crate::operator::dispatch;
use crate::simd::HOSTED;

/// Elements at equal distances.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a, T> {
    /// The elements of the whole tensor.
    pub elements: Input<'a, T>,
    /// The offset of the first.
    pub start: usize,
    /// The stride between neighbouring elements.
    pub step: usize,
}

/// Adds the products of the first `count` pairs to `sum`, in order.
#[inline]
pub fn dot<L: Opmath, R: Raise<L::Math>>(sum: L::Math, left: Run<'_, L>, right: Run<'_, R>, count: usize) -> L::Math {
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
fn product<L: Opmath, R: Raise<L::Math>>(sum: L::Math, left: L, right: R) -> L::Math {
    sum.plus(left.raise().times(right.raised()))
}

/// GEMM: computes `left @ right` and stores the result of the epilogue `finish(row, column, sum)` of each element.
/// `sizes` are `[rows, inner, columns]`.
pub fn multiply<T: Opmath>(
    sizes: [usize; 3],
    left: Matrix<'_, T>,
    right: Matrix<'_, T>,
    target: Target<'_, T>,
    finish: impl Fn(usize, usize, T::Math) -> T::Math,
) {
    if HOSTED && let (Some(left), Some(right), Some(target)) = (left.of_type(), right.of_type(), target.of_type()) {
        // `T` is `f32` here, so that the casts are identities.
        let finish_run = |row: usize, first: usize, sums: &mut [f32]| {
            (first..).zip(sums).for_each(|(column, sum)| *sum = finish(row, column, sum.cast()).cast());
        };
        multiply_in_tiles(sizes, (left, right), target, &finish_run);
    } else {
        multiply_plainly(sizes, left, right, target, finish);
    }
}

/// The tiled GEMM is the largest function of the library, so the callers of all dtypes share a single copy; the
/// epilogue `finish` is called through a reference. It is generic, so that programs without GEMM do not compile it.
#[inline(never)]
fn multiply_in_tiles<B: Right>(
    sizes: [usize; 3],
    (left, right): (Matrix<'_, f32>, B),
    target: Target<'_, f32>,
    finish: &dyn Fn(usize, usize, &mut [f32]),
) {
    Product { sizes, left, right, target, finish }.compute();
}

fn multiply_plainly<T: Opmath>(
    [rows, inner, columns]: [usize; 3],
    left: Matrix<'_, T>,
    right: Matrix<'_, T>,
    target: Target<'_, T>,
    finish: impl Fn(usize, usize, T::Math) -> T::Math,
) {
    for row in 0..rows {
        for column in 0..columns {
            let left_start = left.start + row * left.steps[0];
            let right_start = right.start + column * right.steps[1];
            let left = Run { elements: left.elements, start: left_start, step: left.steps[1] };
            let right = Run { elements: right.elements, start: right_start, step: right.steps[0] };
            let sum = dot(T::Math::ZERO, left, right, inner);
            let at = target.start + row * target.steps[0] + column * target.steps[1];
            target.elements.set(at, T::lower(finish(row, column, sum)));
        }
    }
}

/// The shape of the result of a GEMM.
pub fn product_shape(left: &Shape, right: &Shape) -> Result<Shape> {
    match (left.sizes(), right.sizes()) {
        ([rows, inner], [right_inner, columns]) if inner == right_inner => Shape::new(&[*rows, *columns]),
        _ => Err(et_core::Error::InvalidArgument),
    }
}

/// Stores the GEMM of `left` and `right` in `out`.
pub fn matrix_product<const D: u32>(left: &Tensor<'_>, right: &Tensor<'_>, out: &Tensor<'_>) -> Result<()> {
    let (left_shape, right_shape) = (left.shape(), right.shape());
    out.settle(|| product_shape(&left_shape, &right_shape))?;
    let sizes = [left_shape.size(0), left_shape.size(1), right_shape.size(1)];
    dispatch!(D, out.scalar_type(), numbers, T => {
        multiply::<T>(sizes, matrix(left)?, matrix(right)?, Target::of(out)?, |_, _, sum| sum);
        Ok(())
    })
}
