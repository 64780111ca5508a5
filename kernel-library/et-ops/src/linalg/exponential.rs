//! `etbuild::matrix_exp`: the exponential of square matrices, by scaling and squaring of a Taylor polynomial.
//! Source: Golub and Van Loan, "Matrix Computations", section 9.3.

use crate::family::matrix::{Target, matrix_steps};
use crate::linalg::batch::Batch;
use crate::math::Math;
use crate::prelude::*;

/// The degree of the polynomial, enough for matrices of norm 0.5 in `f64`.
const DEGREE: i64 = 14;

/// `torch.linalg.matrix_exp`. The last output is working memory.
#[cfg(feature = "catalogue")]
pub const MATRIX_EXP: Operator = Operator {
    schema: "etbuild::matrix_exp.out(Tensor self, *, Tensor(a!) out, Tensor(b!) rest) -> (Tensor(a!) out, Tensor(b!) rest)",
    functional: "etbuild::matrix_exp",
    path: kernel_path!(out),
    dtypes: Dtypes::of(&[ScalarType::Float, ScalarType::Double]),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "a rotation, and a matrix without elements beside the diagonal",
            1e-5,
            &[Tensor(CaseTensor::float(&[2, 2, 2], &[0.0, -1.0, 1.0, 0.0, 3.0, 0.0, 0.0, -2.0]))],
            &[
                CaseTensor::float(
                    &[2, 2, 2],
                    &[0.540_302_3, -0.841_471, 0.841_471, 0.540_302_3, 20.085_537, 0.0, 0.0, 0.135_335_28],
                ),
                CaseTensor::float(
                    &[2, 2, 2],
                    &[0.540_302_3, -0.841_471, 0.841_471, 0.540_302_3, 20.085_537, 0.0, 0.0, 0.135_335_28],
                ),
            ],
        ),
        Case::refused("a wide matrix", &[Tensor(CaseTensor::float(&[1, 2], &[2.0, 9.0]))], Error::InvalidArgument),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let batch = Batch::square(&args.tensor(0)?)?;
    batch.meta(args, &[batch.rows, batch.rows])
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, out, rest] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    let shape = infer(args, 0)?.shape;
    out.resize(&shape)?;
    rest.resize(&shape)?;
    let batch = Batch::square(&input)?;
    let [row_step, column_step] = matrix_steps(&input, batch.shape.rank());
    dispatch!(D, input.scalar_type(), precise, T => {
        let (from, powers, others) =
            (input.input::<T>()?, batch.target::<T>(&out, 0)?, batch.target::<T>(&rest, 0)?);
        batch.for_each([&input, &out, &rest], |[from_at, out_at, rest_at]| {
            let element = |row: usize, column: usize| from.get(from_at + row * row_step + column * column_step);
            let [power, other] = [Target { start: out_at, ..powers }, Target { start: rest_at, ..others }];
            exponential(&element, [power, other], batch.rows);
        })
    })
}

fn exponential<M: Math>(element: &dyn Fn(usize, usize) -> M, [power, other]: [Target<'_, M>; 2], size: usize) {
    let halvings = halvings(element, size);
    let scale = M::ONE.scaled(-halvings);
    store(power, size, &|row, column| if row == column { M::ONE } else { M::ZERO });
    // Horner's scheme: 1 + x/1 (1 + x/2 (1 + x/3 (...))).
    for degree in (1..=DEGREE).rev() {
        let factor = scale / M::from_i64(degree);
        store(other, size, &|row, column| {
            let sum = (0..size).fold(M::ZERO, |sum, inner| sum + element(row, inner) * power.get(inner, column));
            sum * factor + if row == column { M::ONE } else { M::ZERO }
        });
        store(power, size, &|row, column| other.get(row, column));
    }
    for _ in 0..halvings {
        store(other, size, &|row, column| {
            (0..size).fold(M::ZERO, |sum, inner| sum + power.get(row, inner) * power.get(inner, column))
        });
        store(power, size, &|row, column| other.get(row, column));
    }
}

/// How often the matrix is halved, so that the sums of a row's magnitudes are at most 0.5. A matrix that is not finite is
/// not halved.
fn halvings<M: Math>(element: &dyn Fn(usize, usize) -> M, size: usize) -> i32 {
    let sum = |row| (0..size).fold(M::ZERO, |sum, column| sum + element(row, column).magnitude());
    let mut norm = (0..size).map(sum).fold(M::ZERO, |norm, sum| if sum > norm { sum } else { norm });
    let mut count = 0;
    while norm > M::HALF && count < 1000 && norm < M::HIGHEST {
        norm = norm * M::HALF;
        count += 1;
    }
    count
}

fn store<M: Math>(matrix: Target<'_, M>, size: usize, element: &dyn Fn(usize, usize) -> M) {
    for row in 0..size {
        (0..size).for_each(|column| matrix.set(row, column, element(row, column)));
    }
}
