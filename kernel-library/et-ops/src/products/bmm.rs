//! `aten::bmm`: products of pairs of matrices, `[b, n, k] @ [b, k, m]`.

use crate::family::contract::multiply;
use crate::family::matrix::{Matrix, Target, matrix_steps};
use crate::family::opmath::Opmath;
use crate::prelude::*;

/// `torch.bmm`.
#[cfg(feature = "catalogue")]
pub const BMM: Operator = Operator {
    schema: "aten::bmm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::bmm",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "two products",
            &[
                Tensor(CaseTensor::float(&[2, 1, 2], &[1.0, 2.0, 3.0, 4.0])),
                Tensor(CaseTensor::float(&[2, 2, 2], &[1.0, 0.0, 0.0, 1.0, 0.5, 1.0, 1.0, -1.0])),
            ],
            &[CaseTensor::float(&[2, 1, 2], &[1.0, 2.0, 5.5, -1.0])],
        ),
        Case::exact(
            "integers",
            &[Tensor(CaseTensor::long(&[1, 2, 1], &[2.0, -3.0])), Tensor(CaseTensor::long(&[1, 1, 2], &[5.0, 7.0]))],
            &[CaseTensor::long(&[1, 2, 2], &[10.0, 14.0, -15.0, -21.0])],
        ),
        Case::refused(
            "batches that differ",
            &[Tensor(CaseTensor::float(&[2, 1, 1], &[1.0; 2])), Tensor(CaseTensor::float(&[1, 1, 1], &[1.0]))],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (left, right) = (args.tensor(0)?, args.tensor(1)?);
    let shape = match (left.shape().sizes(), right.shape().sizes()) {
        ([batch, rows, inner], [right_batch, right_inner, columns]) if (batch, inner) == (right_batch, right_inner) => {
            Shape::new(&[*batch, *rows, *columns])?
        }
        _ => return Err(Error::InvalidArgument),
    };
    Ok(Meta { scalar_type: left.scalar_type(), shape })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(2)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), numbers, T => batches::<T>([&args.tensor(0)?, &args.tensor(1)?, &out]))
}

fn batches<T: Opmath>([left, right, out]: [&et_core::Tensor<'_>; 3]) -> Result<()> {
    let (left_shape, right_shape) = (left.shape(), right.shape());
    let sizes = [left_shape.size(1), left_shape.size(2), right_shape.size(2)];
    let [batch_step, row_step, column_step, ..] = out.strides();
    let elements = out.output::<T>()?;
    for batch in 0..left_shape.size(0) {
        let target = Target { elements, start: batch * batch_step, steps: [row_step, column_step] };
        multiply(sizes, matrix_of::<T>(left, batch)?, matrix_of(right, batch)?, target, |_, _, sum| sum);
    }
    Ok(())
}

fn matrix_of<'a, T: Opmath>(tensor: &et_core::Tensor<'a>, batch: usize) -> Result<Matrix<'a, T>> {
    Ok(Matrix { elements: tensor.input()?, start: batch * tensor.strides()[0], steps: matrix_steps(tensor, 1) })
}
