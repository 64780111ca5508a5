//! `aten::linalg_lu_factor_ex`: the LU factorization with partial pivoting, and the order of rows that pivots describe.

use et_core::Output;

use crate::family::matrix::Target;
use crate::family::transfer;
use crate::linalg::batch::Batch;
use crate::math::Math;
use crate::prelude::*;

/// `torch.linalg.lu_factor_ex`: both factors in a matrix, the exchanged row of each step counted from 1, and the first
/// step with a zero pivot. Source: Golub and Van Loan, "Matrix Computations", algorithm 3.4.1.
#[cfg(feature = "catalogue")]
pub const LU_FACTOR_EX: Operator = Operator {
    schema: "aten::linalg_lu_factor_ex.out(Tensor A, *, bool pivot=True, bool check_errors=False, Tensor(a!) LU, \
             Tensor(b!) pivots, Tensor(c!) info) -> (Tensor(a!) LU, Tensor(b!) pivots, Tensor(c!) info)",
    functional: "aten::linalg_lu_factor_ex",
    path: kernel_path!(factor_ex),
    dtypes: Dtypes::of(&[ScalarType::Float, ScalarType::Double]),
    infer,
    kernel: factor_ex::<ALL>,
    cases: &[
        Case::near(
            "a square matrix with exchanges",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[3, 3], &[1.0, 2.0, 4.0, 4.0, 3.0, 2.0, 2.0, 8.0, 1.0])),
                Bool(true),
                Bool(false),
            ],
            &[
                CaseTensor::float(&[3, 3], &[4.0, 3.0, 2.0, 0.5, 6.5, 0.0, 0.25, 0.192_307_69, 3.5]),
                CaseTensor::of(ScalarType::Int, &[3], &[2.0, 3.0, 3.0]),
                CaseTensor::of(ScalarType::Int, &[], &[0.0]),
            ],
        ),
        Case::near(
            "a batch of wide matrices, one of them singular",
            1e-12,
            &[
                Tensor(CaseTensor::of(
                    ScalarType::Double,
                    &[2, 2, 3],
                    &[1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 1.0, 2.0, 1.5, 2.0, 2.0],
                )),
                Bool(true),
                Bool(false),
            ],
            &[
                CaseTensor::of(
                    ScalarType::Double,
                    &[2, 2, 3],
                    &[2.0, 4.0, 6.0, 0.5, 0.0, 0.0, 3.0, 1.0, 2.0, 0.5, 1.5, 1.0],
                ),
                CaseTensor::of(ScalarType::Int, &[2, 2], &[2.0, 2.0, 1.0, 2.0]),
                CaseTensor::of(ScalarType::Int, &[2], &[2.0, 0.0]),
            ],
        ),
        Case::refused(
            "a vector",
            &[Tensor(CaseTensor::float(&[3], &[1.0, 2.0, 4.0])), Bool(true), Bool(false)],
            Error::InvalidArgument,
        ),
    ],
};

/// The row of the input at each row of the factors, from pivots.
#[cfg(feature = "catalogue")]
pub const PIVOT_ORDER: Operator = Operator {
    schema: "etbuild::pivot_order.out(Tensor pivots, int rows, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "etbuild::pivot_order",
    path: kernel_path!(pivot_order),
    dtypes: Dtypes::of(&[ScalarType::Int]),
    infer: infer_order,
    kernel: pivot_order::<ALL>,
    cases: &[
        Case::exact(
            "two exchanges in sequence",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[2, 2], &[2.0, 3.0, 1.0, 2.0])), Int(4)],
            &[CaseTensor::long(&[2, 4], &[1.0, 2.0, 0.0, 3.0, 0.0, 1.0, 2.0, 3.0])],
        ),
        Case::refused(
            "a row that is not there",
            &[Tensor(CaseTensor::of(ScalarType::Int, &[1], &[3.0])), Int(2)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let batch = Batch::of(&args.tensor(0)?)?;
    let integers = |sizes: &[usize]| Ok(Meta { scalar_type: ScalarType::Int, shape: batch.with(sizes)? });
    match index {
        0 => batch.meta(args, &[batch.rows, batch.columns]),
        1 => integers(&[batch.lesser()]),
        _ => integers(&[]),
    }
}

/// The portable kernel of `linalg_lu_factor_ex` for the types in `D`.
pub fn factor_ex<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, factors, pivots, info] = [args.tensor(0)?, args.tensor(3)?, args.tensor(4)?, args.tensor(5)?];
    pivots.settle(|| Ok(infer(args, 1)?.shape))?;
    info.settle(|| Ok(infer(args, 2)?.shape))?;
    transfer::whole::<D>(&input, &factors)?;
    let (batch, rows, failed) = (Batch::of(&input)?, pivots.output::<i32>()?, info.output::<i32>()?);
    let step = pivots.strides()[batch.shape.rank()];
    dispatch!(D, input.scalar_type(), precise, T => {
        let whole = batch.target::<T>(&factors, 0)?;
        let pivoted = args.bool(1)?;
        batch.for_each([&factors, &pivots, &info], |[start, pivot_at, info_at]| {
            let target = Target { start, ..whole };
            failed.set(info_at, factor(target, &batch, pivoted, |step_at, row| {
                rows.set(pivot_at + step_at * step, row as i32 + 1);
            }));
        })
    })
}

/// Factorizes a matrix in place; returns the first step with a zero pivot, counted from 1, or 0.
fn factor<M: Math>(matrix: Target<'_, M>, batch: &Batch, pivoted: bool, exchanged: impl Fn(usize, usize)) -> i32 {
    let mut failed = 0;
    for step in 0..batch.lesser() {
        let row = if pivoted { largest(matrix, step, batch.rows) } else { step };
        exchanged(step, row);
        matrix.swap_rows(step, row, batch.columns);
        let pivot = matrix.get(step, step);
        if pivot == M::ZERO {
            failed = if failed == 0 { step as i32 + 1 } else { failed };
            continue;
        }
        for below in step + 1..batch.rows {
            let factor = matrix.get(below, step) / pivot;
            matrix.set(below, step, factor);
            for column in step + 1..batch.columns {
                matrix.set(below, column, matrix.get(below, column) - factor * matrix.get(step, column));
            }
        }
    }
    failed
}

/// The row from `step` on with the element of greatest magnitude in column `step`; the first of equal ones.
fn largest<M: Math>(matrix: Target<'_, M>, step: usize, rows: usize) -> usize {
    let size = |row| matrix.get(row, step).magnitude();
    (step + 1..rows).fold(step, |best, row| if size(row) > size(best) { row } else { best })
}

fn infer_order(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let mut shape = args.tensor(0)?.shape();
    let size = shape.sizes_mut().last_mut().ok_or(Error::InvalidArgument)?;
    *size = i32::try_from(args.int(1)?).map_err(|_| Error::InvalidArgument)?;
    Ok(Meta { scalar_type: ScalarType::Long, shape })
}

/// The portable kernel of `pivot_order`, whose types are fixed.
pub fn pivot_order<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (pivots, out, meta) = (args.tensor(0)?, args.tensor(2)?, infer_order(args, 0)?);
    out.resize(&meta.shape)?;
    let (from, to) = (pivots.input::<i32>()?, out.output::<i64>()?);
    let (inner, count) = (pivots.rank() - 1, pivots.size(pivots.rank() - 1));
    let (from_step, to_step, rows) = (pivots.strides()[inner], out.strides()[inner], out.size(inner));
    let [outer @ .., _] = meta.shape.sizes() else { return Err(Error::InvalidArgument) };
    let batch = Batch { shape: Shape::new(outer)?, rows, columns: 1 };
    let mut inside = true;
    batch.for_each([&pivots, &out], |[from_at, to_at]| {
        (0..rows).for_each(|row| to.set(to_at + row * to_step, row as i64));
        for step in 0..count {
            let row = i64::from(from.get(from_at + step * from_step)) - 1;
            inside &= (0..rows as i64).contains(&row) && step < rows;
            if inside {
                exchange(to, to_at + step * to_step, to_at + row as usize * to_step);
            }
        }
    })?;
    if inside { Ok(()) } else { Err(Error::InvalidArgument) }
}

fn exchange(elements: Output<'_, i64>, one: usize, other: usize) {
    let element = elements.get(one);
    elements.set(one, elements.get(other));
    elements.set(other, element);
}
