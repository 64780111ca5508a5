//! `aten::geqrf` and `aten::linalg_householder_product`: the QR factorization by Householder reflections, with the signs of
//! LAPACK. Source: Golub and Van Loan, "Matrix Computations", section 5.2.

use crate::family::matrix::Target;
use crate::family::transfer;
use crate::linalg::batch::Batch;
use crate::math::Math;
use crate::prelude::*;

/// `torch.geqrf`: the upper factor, with the vectors of the reflections below the diagonal, and their scales.
#[cfg(feature = "catalogue")]
pub const GEQRF: Operator = Operator {
    schema: "aten::geqrf.a(Tensor self, *, Tensor(a!) a, Tensor(b!) tau) -> (Tensor(a!) a, Tensor(b!) tau)",
    functional: "aten::geqrf",
    path: kernel_path!(geqrf),
    dtypes: Dtypes::of(&[ScalarType::Float, ScalarType::Double]),
    infer,
    kernel: geqrf::<ALL>,
    cases: &[
        Case::near(
            "a tall matrix",
            1e-6,
            &[Tensor(CaseTensor::float(&[3, 2], &[3.0, 1.0, 4.0, 2.0, 0.0, 2.0]))],
            &[
                CaseTensor::float(&[3, 2], &[-5.0, -2.2, 0.5, -2.039_607_8, 0.0, 0.819_803_95]),
                CaseTensor::float(&[2], &[1.6, 1.196_116_1]),
            ],
        ),
        Case::near(
            "a batch of rows, which need no reflection",
            1e-12,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[2, 1, 2], &[3.0, 1.0, -4.0, 2.0]))],
            &[
                CaseTensor::of(ScalarType::Double, &[2, 1, 2], &[3.0, 1.0, -4.0, 2.0]),
                CaseTensor::of(ScalarType::Double, &[2, 1], &[0.0, 0.0]),
            ],
        ),
        Case::refused("a vector", &[Tensor(CaseTensor::float(&[1], &[3.0]))], Error::InvalidArgument),
    ],
};

/// `torch.linalg.householder_product`: the first columns of the product of reflections.
#[cfg(feature = "catalogue")]
pub const HOUSEHOLDER_PRODUCT: Operator = Operator {
    schema: "aten::linalg_householder_product.out(Tensor input, Tensor tau, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::linalg_householder_product",
    path: kernel_path!(householder_product),
    dtypes: Dtypes::of(&[ScalarType::Float, ScalarType::Double]),
    infer: infer_product,
    kernel: householder_product::<ALL>,
    cases: &[
        Case::near(
            "the orthogonal factor of a tall matrix",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[3, 2], &[-5.0, -2.2, 0.5, -2.039_607_8, 0.0, 0.819_803_95])),
                Tensor(CaseTensor::float(&[2], &[1.6, 1.196_116_1])),
            ],
            &[CaseTensor::float(&[3, 2], &[-0.6, 0.156_892_88, -0.8, -0.117_669_65, 0.0, -0.980_580_7])],
        ),
        Case::refused(
            "more scales than columns",
            &[Tensor(CaseTensor::float(&[2, 1], &[-5.0, 0.5])), Tensor(CaseTensor::float(&[2], &[1.6, 1.1]))],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let batch = Batch::of(&args.tensor(0)?)?;
    if index == 0 { batch.meta(args, &[batch.rows, batch.columns]) } else { batch.meta(args, &[batch.lesser()]) }
}

/// The portable kernel of `geqrf` for the types in `D`.
pub fn geqrf<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, out, scales] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    scales.settle(|| Ok(infer(args, 1)?.shape))?;
    transfer::whole::<D>(&input, &out)?;
    let batch = Batch::of(&input)?;
    let step = scales.strides()[batch.shape.rank()];
    dispatch!(D, input.scalar_type(), precise, T => {
        let (whole, to) = (batch.target::<T>(&out, 0)?, scales.output::<T>()?);
        batch.for_each([&out, &scales], |[start, scale_at]| {
            let matrix = Target { start, ..whole };
            for column in 0..batch.lesser() {
                let scale = reflect(matrix, column, batch.rows);
                to.set(scale_at + column * step, scale);
                (column + 1..batch.columns).for_each(|other| {
                    Reflection { vectors: &|row, column| matrix.get(row, column), column, rows: batch.rows }
                        .apply(matrix, other, scale);
                });
            }
        })
    })
}

/// Replaces a column by the vector of its reflection, with the length of the column on the diagonal; returns the scale.
fn reflect<M: Math>(matrix: Target<'_, M>, column: usize, rows: usize) -> M {
    let first = matrix.get(column, column);
    // Scaled by the largest element, squares do not overflow.
    let largest = (column..rows).fold(M::ZERO, |largest, row| {
        let size = matrix.get(row, column).magnitude();
        if size > largest { size } else { largest }
    });
    let squares = (column + 1..rows).fold(M::ZERO, |sum, row| {
        let part = matrix.get(row, column) / largest;
        sum + part * part
    });
    if largest == M::ZERO || squares == M::ZERO {
        return M::ZERO;
    }
    let ratio = first / largest;
    let length = (ratio * ratio + squares).sqrt() * largest;
    let length = if first.is_signed() { length } else { -length };
    for row in column + 1..rows {
        matrix.set(row, column, matrix.get(row, column) / (first - length));
    }
    matrix.set(column, column, length);
    (length - first) / length
}

/// A reflection whose vector is 1 at `column`, and below what `vectors` holds there.
struct Reflection<'a, M> {
    vectors: &'a dyn Fn(usize, usize) -> M,
    column: usize,
    rows: usize,
}

impl<M: Math> Reflection<'_, M> {
    /// Reflects column `other` of a matrix.
    fn apply(&self, matrix: Target<'_, M>, other: usize, scale: M) {
        let below = self.column + 1..self.rows;
        let products = below.clone().map(|row| (self.vectors)(row, self.column) * matrix.get(row, other));
        let product = products.fold(matrix.get(self.column, other), |sum, product| sum + product) * scale;
        matrix.set(self.column, other, matrix.get(self.column, other) - product);
        for row in below {
            matrix.set(row, other, matrix.get(row, other) - product * (self.vectors)(row, self.column));
        }
    }
}

fn infer_product(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (batch, scales) = (Batch::of(&args.tensor(0)?)?, args.tensor(1)?.shape());
    let [outer @ .., count] = scales.sizes() else { return Err(Error::InvalidArgument) };
    if outer != batch.shape.sizes() || *count as usize > batch.columns || batch.columns > batch.rows {
        return Err(Error::InvalidArgument);
    }
    batch.meta(args, &[batch.rows, batch.columns])
}

/// The portable kernel of `linalg_householder_product` for the types in `D`.
pub fn householder_product<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, scales, out] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    out.settle(|| Ok(infer_product(args, 0)?.shape))?;
    let batch = Batch::of(&input)?;
    let inner = batch.shape.rank();
    let ([row_step, column_step], step) = (crate::family::matrix::matrix_steps(&input, inner), scales.strides()[inner]);
    dispatch!(D, input.scalar_type(), precise, T => {
        let (whole, from, sizes) = (batch.target::<T>(&out, 0)?, input.input::<T>()?, scales.input::<T>()?);
        batch.for_each([&out, &input, &scales], |[start, from_at, scale_at]| {
            let matrix = Target { start, ..whole };
            for row in 0..batch.rows {
                (0..batch.columns).for_each(|column| matrix.set(row, column, <T as et_core::Element>::from_i64((row == column).into())));
            }
            let vectors = |row: usize, column: usize| from.get(from_at + row * row_step + column * column_step);
            for column in (0..scales.size(inner)).rev() {
                let reflection = Reflection { vectors: &vectors, column, rows: batch.rows };
                let scale = sizes.get(scale_at + column * step);
                (0..batch.columns).for_each(|other| reflection.apply(matrix, other, scale));
            }
        })
    })
}
