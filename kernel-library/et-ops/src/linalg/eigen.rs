//! `etbuild::eigh`: eigenvalues and eigenvectors of symmetric matrices, by Jacobi's cyclic rotations.
//! Source: Golub and Van Loan, "Matrix Computations", section 8.5.

use crate::family::matrix::Target;
use crate::linalg::batch::Batch;
use crate::math::Math;
use crate::prelude::*;

/// More sweeps than the quadratic convergence needs for any matrix of numbers.
const MOST_SWEEPS: usize = 60;

/// Eigenvalues in ascending order, and the eigenvectors as columns. Of the input, the upper or lower triangle is read. The
/// last output is working memory.
#[cfg(feature = "catalogue")]
pub const EIGH: Operator = Operator {
    schema: "etbuild::eigh.out(Tensor self, bool upper, *, Tensor(a!) values, Tensor(b!) vectors, Tensor(c!) rest) -> \
             (Tensor(a!) values, Tensor(b!) vectors, Tensor(c!) rest)",
    functional: "etbuild::eigh",
    path: kernel_path!(out),
    dtypes: Dtypes::of(&[ScalarType::Float, ScalarType::Double]),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "a lower triangle",
            1e-6,
            &[Tensor(CaseTensor::float(&[2, 2], &[2.0, 9.0, 1.0, 2.0])), Bool(false)],
            &[
                CaseTensor::float(&[2], &[1.0, 3.0]),
                CaseTensor::float(&[2, 2], &[0.707_106_77, 0.707_106_77, -0.707_106_77, 0.707_106_77]),
                CaseTensor::float(&[2, 2], &[1.0, 0.0, 0.0, 3.0]),
            ],
        ),
        Case::near(
            "a batch of diagonals",
            1e-12,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 2, 2], &[3.0, 0.0, 0.0, 2.0, 5.0, 0.0, 0.0, 6.0])),
                Bool(true),
            ],
            &[
                CaseTensor::of(ScalarType::Double, &[2, 2], &[2.0, 3.0, 5.0, 6.0]),
                CaseTensor::of(ScalarType::Double, &[2, 2, 2], &[0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0]),
                CaseTensor::of(ScalarType::Double, &[2, 2, 2], &[2.0, 0.0, 0.0, 3.0, 5.0, 0.0, 0.0, 6.0]),
            ],
        ),
        Case::refused(
            "a wide matrix",
            &[Tensor(CaseTensor::float(&[1, 2], &[2.0, 9.0])), Bool(false)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let batch = Batch::square(&args.tensor(0)?)?;
    if index == 0 { batch.meta(args, &[batch.rows]) } else { batch.meta(args, &[batch.rows, batch.rows]) }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, values, vectors, rest] = [args.tensor(0)?, args.tensor(2)?, args.tensor(3)?, args.tensor(4)?];
    values.settle(|| Ok(infer(args, 0)?.shape))?;
    vectors.settle(|| Ok(infer(args, 1)?.shape))?;
    crate::family::transfer::whole::<D>(&input, &rest)?;
    let (batch, upper) = (Batch::square(&input)?, args.bool(1)?);
    let (size, step) = (batch.rows, values.strides()[batch.shape.rank()]);
    dispatch!(D, input.scalar_type(), precise, T => {
        let (matrices, bases) = (batch.target::<T>(&rest, 0)?, batch.target::<T>(&vectors, 0)?);
        let to = values.output::<T>()?;
        batch.for_each([&rest, &vectors, &values], |[matrix_at, basis_at, value_at]| {
            let pair = Pair { matrix: Target { start: matrix_at, ..matrices }, basis: Target { start: basis_at, ..bases }, size };
            pair.prepare(upper);
            pair.diagonalize();
            pair.sort();
            (0..size).for_each(|index| to.set(value_at + index * step, pair.matrix.get(index, index)));
        })
    })
}

/// A symmetric matrix, and the product of all rotations so far.
struct Pair<'a, M> {
    matrix: Target<'a, M>,
    basis: Target<'a, M>,
    size: usize,
}

impl<M: Math> Pair<'_, M> {
    /// Mirrors a triangle, and starts with no rotation.
    fn prepare(&self, upper: bool) {
        let matrix = if upper { self.matrix.transposed() } else { self.matrix };
        for row in 0..self.size {
            for column in 0..self.size {
                self.basis.set(row, column, if row == column { M::ONE } else { M::ZERO });
                if column < row {
                    matrix.set(column, row, matrix.get(row, column));
                }
            }
        }
    }

    /// Rotates until all elements beside the diagonal are negligible.
    fn diagonalize(&self) {
        let negligible = self.largest() * M::power_of_two(-(M::FRACTION as i32));
        for _ in 0..MOST_SWEEPS {
            let mut done = true;
            for row in 0..self.size {
                for column in row + 1..self.size {
                    if self.matrix.get(row, column).magnitude() > negligible {
                        self.rotate(row, column);
                        done = false;
                    }
                }
            }
            if done {
                break;
            }
        }
        self.clear();
    }

    fn largest(&self) -> M {
        let places = (0..self.size).flat_map(|row| (0..self.size).map(move |column| (row, column)));
        places.fold(M::ZERO, |largest, (row, column)| {
            let size = self.matrix.get(row, column).magnitude();
            if size > largest { size } else { largest }
        })
    }

    /// The rotation of two dimensions that makes the element between them 0.
    fn rotate(&self, one: usize, other: usize) {
        let difference = self.matrix.get(other, other) - self.matrix.get(one, one);
        let [cosine, sine] = rotation(difference, self.matrix.get(one, other));
        turn(self.matrix, [one, other], self.size, [cosine, sine]);
        turn(self.matrix.transposed(), [one, other], self.size, [cosine, sine]);
        turn(self.basis, [one, other], self.size, [cosine, sine]);
    }

    /// Stores zeros beside the diagonal.
    fn clear(&self) {
        for row in 0..self.size {
            for column in (0..self.size).filter(|column| *column != row) {
                self.matrix.set(row, column, M::ZERO);
            }
        }
    }

    /// Orders eigenvalues and the columns of eigenvectors.
    fn sort(&self) {
        for index in 0..self.size {
            let value = |at: usize| self.matrix.get(at, at);
            let least =
                (index + 1..self.size).fold(index, |least, at| if value(at) < value(least) { at } else { least });
            let (one, other) = (value(index), value(least));
            self.matrix.set(index, index, other);
            self.matrix.set(least, least, one);
            self.basis.transposed().swap_rows(index, least, self.size);
        }
    }
}

/// The cosine and sine of the smaller angle that makes the element `between` two diagonal elements 0; `difference` is the
/// second less the first.
pub fn rotation<M: Math>(difference: M, between: M) -> [M; 2] {
    let ratio = difference / (M::TWO * between);
    let size = ratio.magnitude();
    let root = (size * size + M::ONE).sqrt();
    // Squares of large ratios overflow to infinity, where the tangent is half of the reciprocal.
    let tangent = if root > M::INTEGERS { M::HALF / size } else { M::ONE / (size + root) };
    let tangent = tangent.with_sign_of(ratio);
    let cosine = M::ONE / (tangent * tangent + M::ONE).sqrt();
    [cosine, tangent * cosine]
}

/// Rotates two columns of a matrix.
pub fn turn<M: Math>(matrix: Target<'_, M>, [one, other]: [usize; 2], rows: usize, [cosine, sine]: [M; 2]) {
    for row in 0..rows {
        let (first, second) = (matrix.get(row, one), matrix.get(row, other));
        matrix.set(row, one, cosine * first - sine * second);
        matrix.set(row, other, sine * first + cosine * second);
    }
}
