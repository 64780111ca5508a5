//! `aten::linalg_solve_triangular`: systems of equations with triangular matrices, by substitution.

use crate::family::matrix::Target;
use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::linalg::batch::Batch;
use crate::math::Math;
use crate::prelude::*;

/// `torch.linalg.solve_triangular`: the solutions `X` of `A X = B`, or of `X A = B` if not `left`. Batches broadcast.
#[cfg(feature = "catalogue")]
pub const SOLVE_TRIANGULAR: Operator = Operator {
    schema: "aten::linalg_solve_triangular.out(Tensor self, Tensor B, *, bool upper, bool left=True, \
             bool unitriangular=False, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::linalg_solve_triangular",
    path: kernel_path!(out),
    dtypes: Dtypes::of(&[ScalarType::Float, ScalarType::Double]),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "upper",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[2, 2], &[2.0, 1.0, 7.0, 4.0])),
                Tensor(CaseTensor::float(&[2, 1], &[5.0, 8.0])),
                Bool(true),
                Bool(true),
                Bool(false),
            ],
            &[CaseTensor::float(&[2, 1], &[1.5, 2.0])],
        ),
        Case::near(
            "lower from the right, with ones on the diagonal, in a broadcast batch",
            1e-12,
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 2], &[9.0, 9.0, 3.0, 9.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 1, 2], &[5.0, 8.0, 1.0, 0.0])),
                Bool(false),
                Bool(false),
                Bool(true),
            ],
            &[CaseTensor::of(ScalarType::Double, &[2, 1, 2], &[-19.0, 8.0, 1.0, 0.0])],
        ),
        Case::refused(
            "rows that do not match",
            &[
                Tensor(CaseTensor::float(&[2, 2], &[2.0, 1.0, 7.0, 4.0])),
                Tensor(CaseTensor::float(&[1, 2], &[5.0, 8.0])),
                Bool(true),
                Bool(true),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (matrix, sides) = (Batch::square(&args.tensor(0)?)?, Batch::of(&args.tensor(1)?)?);
    if matrix.rows != if args.bool(3)? { sides.rows } else { sides.columns } {
        return Err(Error::InvalidArgument);
    }
    let batch = Batch { shape: matrix.shape.broadcast(&sides.shape)?, ..sides };
    batch.meta(args, &[sides.rows, sides.columns])
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [matrices, sides, out] = [args.tensor(0)?, args.tensor(1)?, args.tensor(5)?];
    let shape = infer(args, 0)?.shape;
    out.resize(&shape)?;
    crate::family::transfer::region::<D>(&shape, (&sides, Place::broadcast(&sides, &shape)?), (&out, Place::of(&out)))?;
    let (upper, left, unit) = (args.bool(2)?, args.bool(3)?, args.bool(4)?);
    let (batch, square) = (Batch::of(&out)?, Batch::square(&matrices)?);
    let places = [spread(&matrices, &batch.shape)?, Place::of(&out)];
    dispatch!(D, out.scalar_type(), precise, T => {
        let (from, to) = (matrices.input::<T>()?, batch.target::<T>(&out, 0)?);
        let [row_step, column_step] = crate::family::matrix::matrix_steps(&matrices, square.shape.rank());
        let order = Order { size: square.rows, backward: upper == left, unit };
        Walk::over(&batch.shape, places)?.for_each(|[start, to_start]| {
            let target = Target { start: to_start, ..to };
            // From the right, the transposed system has the transposed matrix.
            let element = |row: usize, column: usize| match left {
                true => from.get(start + row * row_step + column * column_step),
                false => from.get(start + column * row_step + row * column_step),
            };
            if left {
                order.solve(&element, target, batch.columns);
            } else {
                order.solve(&element, target.transposed(), batch.rows);
            }
        });
        Ok(())
    })
}

/// The place of each matrix of a tensor that broadcasts to a batch.
fn spread(tensor: &et_core::Tensor<'_>, batch: &Shape) -> Result<Place> {
    let mut shape = *batch;
    let own = tensor.shape();
    own.sizes().iter().skip(tensor.rank() - 2).try_for_each(|size| shape.push(*size))?;
    Place::broadcast(tensor, &shape)
}

/// The order of substitution.
struct Order {
    size: usize,
    /// From the last row to the first, for upper triangles.
    backward: bool,
    /// Whether the diagonal is taken as ones.
    unit: bool,
}

impl Order {
    /// Replaces right-hand sides by solutions.
    fn solve<M: Math>(&self, element: &dyn Fn(usize, usize) -> M, sides: Target<'_, M>, columns: usize) {
        for column in 0..columns {
            for step in 0..self.size {
                let row = if self.backward { self.size - 1 - step } else { step };
                let known = if self.backward { row + 1..self.size } else { 0..row };
                let products = known.map(|inner| element(row, inner) * sides.get(inner, column));
                let rest = products.fold(sides.get(row, column), |rest, product| rest - product);
                sides.set(row, column, if self.unit { rest } else { rest / element(row, row) });
            }
        }
    }
}
