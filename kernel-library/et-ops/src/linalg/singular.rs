//! `etbuild::svd`: the singular value decomposition, by rotations of pairs of columns (one-sided Jacobi).
//! Source: M. R. Hestenes, "Inversion of matrices by biorthogonalization and related results", 1958.

use super::eigen::{rotation, turn};
use crate::family::matrix::Target;
use crate::linalg::batch::Batch;
use crate::math::Math;
use crate::prelude::*;

/// More sweeps than the quadratic convergence needs for any matrix of numbers.
const MOST_SWEEPS: usize = 60;

/// The reduced decomposition of matrices with at least as many rows as columns: left singular vectors as columns, singular
/// values in descending order, and right singular vectors as rows.
#[cfg(feature = "catalogue")]
pub const SVD: Operator = Operator {
    schema: "etbuild::svd.out(Tensor self, *, Tensor(a!) left, Tensor(b!) values, Tensor(c!) right) -> \
             (Tensor(a!) left, Tensor(b!) values, Tensor(c!) right)",
    functional: "etbuild::svd",
    path: kernel_path!(out),
    dtypes: Dtypes::of(&[ScalarType::Float, ScalarType::Double]),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "a tall matrix with orthogonal columns",
            1e-6,
            &[Tensor(CaseTensor::float(&[3, 2], &[0.0, 3.0, 0.0, 4.0, 2.0, 0.0]))],
            &[
                CaseTensor::float(&[3, 2], &[0.6, 0.0, 0.8, 0.0, 0.0, 1.0]),
                CaseTensor::float(&[2], &[5.0, 2.0]),
                CaseTensor::float(&[2, 2], &[0.0, 1.0, 1.0, 0.0]),
            ],
        ),
        Case::near(
            "a matrix of rank 1, whose second vector is any orthogonal one",
            1e-12,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[1, 2, 2], &[2.0, 0.0, 0.0, 0.0]))],
            &[
                CaseTensor::of(ScalarType::Double, &[1, 2, 2], &[1.0, 0.0, 0.0, 1.0]),
                CaseTensor::of(ScalarType::Double, &[1, 2], &[2.0, 0.0]),
                CaseTensor::of(ScalarType::Double, &[1, 2, 2], &[1.0, 0.0, 0.0, 1.0]),
            ],
        ),
        Case::refused("a wide matrix", &[Tensor(CaseTensor::float(&[1, 2], &[2.0, 9.0]))], Error::InvalidArgument),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let batch = Batch::of(&args.tensor(0)?)?;
    if batch.rows < batch.columns {
        return Err(Error::InvalidArgument);
    }
    match index {
        0 => batch.meta(args, &[batch.rows, batch.columns]),
        1 => batch.meta(args, &[batch.columns]),
        _ => batch.meta(args, &[batch.columns, batch.columns]),
    }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, left, values, right] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?, args.tensor(3)?];
    values.settle(|| Ok(infer(args, 1)?.shape))?;
    right.settle(|| Ok(infer(args, 2)?.shape))?;
    crate::family::transfer::whole::<D>(&input, &left)?;
    let batch = Batch::of(&input)?;
    let step = values.strides()[batch.shape.rank()];
    dispatch!(D, input.scalar_type(), precise, T => {
        let (lefts, rights) = (batch.target::<T>(&left, 0)?, batch.target::<T>(&right, 0)?);
        let to = values.output::<T>()?;
        batch.for_each([&left, &right, &values], |[left_at, right_at, value_at]| {
            let columns = Columns {
                left: Target { start: left_at, ..lefts },
                right: Target { start: right_at, ..rights }.transposed(),
                rows: batch.rows,
                count: batch.columns,
            };
            columns.orthogonalize();
            (0..columns.count).for_each(|column| to.set(value_at + column * step, columns.normalize(column)));
            columns.sort(&|column| to.get(value_at + column * step), &|column, value| to.set(value_at + column * step, value));
            (0..columns.count).for_each(|column| columns.complete(column));
        })
    })
}

/// The columns of a matrix, and the product of all rotations.
struct Columns<'a, M> {
    left: Target<'a, M>,
    right: Target<'a, M>,
    rows: usize,
    count: usize,
}

impl<M: Math> Columns<'_, M> {
    fn product(&self, one: usize, other: usize) -> M {
        (0..self.rows).fold(M::ZERO, |sum, row| sum + self.left.get(row, one) * self.left.get(row, other))
    }

    /// Rotates pairs of columns until all are orthogonal.
    fn orthogonalize(&self) {
        for row in 0..self.count {
            (0..self.count)
                .for_each(|column| self.right.set(row, column, if row == column { M::ONE } else { M::ZERO }));
        }
        for _ in 0..MOST_SWEEPS {
            let mut done = true;
            for one in 0..self.count {
                for other in one + 1..self.count {
                    done &= !self.rotate(one, other);
                }
            }
            if done {
                break;
            }
        }
    }

    /// Makes two columns orthogonal; returns whether they were not.
    fn rotate(&self, one: usize, other: usize) -> bool {
        let (first, second, between) = (self.product(one, one), self.product(other, other), self.product(one, other));
        let negligible = M::TWO * M::power_of_two(-(M::FRACTION as i32)) * first.sqrt() * second.sqrt();
        if between.magnitude() <= negligible || between.is_nan() {
            return false;
        }
        let angle = rotation(second - first, between);
        turn(self.left, [one, other], self.rows, angle);
        turn(self.right, [one, other], self.count, angle);
        true
    }

    /// Divides a column by its length, which is returned.
    fn normalize(&self, column: usize) -> M {
        let length = self.product(column, column).sqrt();
        if length > M::ZERO {
            (0..self.rows).for_each(|row| self.left.set(row, column, self.left.get(row, column) / length));
        } else {
            (0..self.rows).for_each(|row| self.left.set(row, column, M::ZERO));
        }
        length
    }

    /// Orders values and both kinds of vectors.
    fn sort(&self, value: &dyn Fn(usize) -> M, store: &dyn Fn(usize, M)) {
        for index in 0..self.count {
            let most = (index + 1..self.count).fold(index, |most, at| if value(at) > value(most) { at } else { most });
            let (one, other) = (value(index), value(most));
            store(index, other);
            store(most, one);
            self.left.transposed().swap_rows(index, most, self.rows);
            self.right.transposed().swap_rows(index, most, self.count);
        }
    }

    /// Replaces a column of zeros by a vector that is orthogonal to all other columns: the rest of a unit vector.
    fn complete(&self, column: usize) {
        if self.product(column, column) > M::ZERO {
            return;
        }
        for unit in 0..self.rows {
            (0..self.rows).for_each(|row| self.left.set(row, column, if row == unit { M::ONE } else { M::ZERO }));
            // The second time removes what rounding left.
            for other in (0..self.count).filter(|other| *other != column).cycle().take(2 * (self.count - 1)) {
                let part = self.product(column, other);
                for row in 0..self.rows {
                    self.left.set(row, column, self.left.get(row, column) - part * self.left.get(row, other));
                }
            }
            if self.normalize(column) > M::from_f64(0.5) / M::from_i64(self.rows as i64).sqrt() {
                return;
            }
        }
    }
}
