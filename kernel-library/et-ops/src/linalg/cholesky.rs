//! `aten::linalg_cholesky_ex`: the Cholesky factorization of symmetric positive-definite matrices.

use crate::family::matrix::Target;
use crate::linalg::batch::Batch;
use crate::math::Math;
use crate::prelude::*;

/// `torch.linalg.cholesky_ex`: the triangle, and the order of the first leading minor that is not positive, or 0. Of the
/// input, the lower triangle is read, or the upper triangle for an upper factor. Source: Golub and Van Loan, "Matrix
/// Computations", algorithm 4.2.1.
#[cfg(feature = "catalogue")]
pub const CHOLESKY_EX: Operator = Operator {
    schema: "aten::linalg_cholesky_ex.L(Tensor self, *, bool upper=False, bool check_errors=False, Tensor(a!) L, \
             Tensor(b!) info) -> (Tensor(a!) L, Tensor(b!) info)",
    functional: "aten::linalg_cholesky_ex",
    path: kernel_path!(cholesky_ex),
    dtypes: Dtypes::of(&[ScalarType::Float, ScalarType::Double]),
    infer,
    kernel: cholesky_ex::<ALL>,
    cases: &[
        Case::near(
            "lower",
            1e-6,
            &[Tensor(CaseTensor::float(&[2, 2], &[4.0, 2.0, 2.0, 5.0])), Bool(false), Bool(false)],
            &[CaseTensor::float(&[2, 2], &[2.0, 0.0, 1.0, 2.0]), CaseTensor::of(ScalarType::Int, &[], &[0.0])],
        ),
        Case::near(
            "a batch of upper factors",
            1e-12,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 2, 2], &[4.0, 2.0, 2.0, 5.0, 9.0, 3.0, 3.0, 17.0])),
                Bool(true),
                Bool(false),
            ],
            &[
                CaseTensor::of(ScalarType::Double, &[2, 2, 2], &[2.0, 1.0, 0.0, 2.0, 3.0, 1.0, 0.0, 4.0]),
                CaseTensor::of(ScalarType::Int, &[2], &[0.0, 0.0]),
            ],
        ),
        Case::refused(
            "a wide matrix",
            &[Tensor(CaseTensor::float(&[1, 2], &[4.0, 2.0])), Bool(false), Bool(false)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let batch = Batch::square(&args.tensor(0)?)?;
    match index {
        0 => batch.meta(args, &[batch.rows, batch.rows]),
        _ => Ok(Meta { scalar_type: ScalarType::Int, shape: batch.shape }),
    }
}

/// The portable kernel of `linalg_cholesky_ex` for the types in `D`.
pub fn cholesky_ex<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, factor, info] = [args.tensor(0)?, args.tensor(3)?, args.tensor(4)?];
    factor.settle(|| Ok(infer(args, 0)?.shape))?;
    info.settle(|| Ok(infer(args, 1)?.shape))?;
    let (batch, failed, upper) = (Batch::square(&input)?, info.output::<i32>()?, args.bool(1)?);
    crate::family::transfer::whole::<D>(&input, &factor)?;
    dispatch!(D, input.scalar_type(), precise, T => {
        let whole = batch.target::<T>(&factor, 0)?;
        batch.for_each([&factor, &info], |[start, info_at]| {
            let target = Target { start, ..whole };
            failed.set(info_at, lower(if upper { target.transposed() } else { target }, batch.rows));
        })
    })
}

/// Replaces a matrix with its lower factor; returns the order of the first minor that is not positive, or 0.
fn lower<M: Math>(matrix: Target<'_, M>, size: usize) -> i32 {
    for column in 0..size {
        (0..column).for_each(|row| matrix.set(row, column, M::ZERO));
    }
    for column in 0..size {
        let rest = |row: usize| {
            let products = (0..column).map(|inner| matrix.get(row, inner) * matrix.get(column, inner));
            products.fold(matrix.get(row, column), |rest, product| rest - product)
        };
        let square = rest(column);
        if square.is_nan() || square <= M::ZERO {
            return column as i32 + 1;
        }
        let root = square.sqrt();
        matrix.set(column, column, root);
        (column + 1..size).for_each(|row| matrix.set(row, column, rest(row) / root));
    }
    0
}
