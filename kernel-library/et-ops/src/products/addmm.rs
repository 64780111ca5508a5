//! `aten::addmm`: `beta * self + alpha * (mat1 @ mat2)`. Where `beta` is 0, `self` is not read.

use et_core::Scalar;

use crate::family::contract::{multiply, product_shape};
use crate::family::matrix::{Target, matrix};
use crate::family::opmath::Opmath;
use crate::family::place::Place;
use crate::prelude::*;

/// `torch.addmm`.
#[cfg(feature = "catalogue")]
pub const ADDMM: Operator = Operator {
    schema: "aten::addmm.out(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, \
             Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::addmm",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "a bias for each column",
            &[
                Tensor(CaseTensor::float(&[2], &[10.0, 20.0])),
                Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 4.0])),
                Tensor(CaseTensor::float(&[2, 2], &[1.0, 0.5, -1.0, 2.0])),
                Int(1),
                Int(1),
            ],
            &[CaseTensor::float(&[2, 2], &[9.0, 24.5, 9.0, 29.5])],
        ),
        Case::exact(
            "factors",
            &[
                Tensor(CaseTensor::long(&[1, 1], &[3.0])),
                Tensor(CaseTensor::long(&[1, 2], &[1.0, 2.0])),
                Tensor(CaseTensor::long(&[2, 2], &[1.0, 2.0, 3.0, 4.0])),
                Int(-1),
                Int(2),
            ],
            &[CaseTensor::long(&[1, 2], &[11.0, 17.0])],
        ),
        Case::exact(
            "beta of 0 hides what is not a number",
            &[
                Tensor(CaseTensor::float(&[1], &[f64::NAN])),
                Tensor(CaseTensor::float(&[1, 1], &[2.0])),
                Tensor(CaseTensor::float(&[1, 1], &[3.0])),
                Int(0),
                Double(0.5),
            ],
            &[CaseTensor::float(&[1, 1], &[3.0])],
        ),
        Case::refused(
            "a bias that does not broadcast",
            &[
                Tensor(CaseTensor::float(&[3], &[1.0; 3])),
                Tensor(CaseTensor::float(&[1, 1], &[2.0])),
                Tensor(CaseTensor::float(&[1, 2], &[3.0; 2])),
                Int(1),
                Int(1),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let shape = product_shape(&args.tensor(1)?.shape(), &args.tensor(2)?.shape())?;
    let bias = args.tensor(0)?;
    Place::broadcast(&bias, &shape)?;
    Ok(Meta { scalar_type: bias.scalar_type(), shape })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (left, right, out) = (args.tensor(1)?, args.tensor(2)?, args.tensor(5)?);
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    let factors = [args.scalar(3)?, args.scalar(4)?];
    dispatch!(D, out.scalar_type(), numbers, T => add_product::<T>(&args.tensor(0)?, [&left, &right, &out], factors))
}

fn add_product<T: Opmath>(
    bias: &et_core::Tensor<'_>,
    [left, right, out]: [&et_core::Tensor<'_>; 3],
    factors: [Scalar; 2],
) -> Result<()> {
    let shape = out.shape();
    let sizes = [shape.size(0), left.shape().size(1), shape.size(1)];
    let (from, [from_row, from_column, ..]) = (bias.input::<T>()?, Place::broadcast(bias, &shape)?.strides);
    let [beta, alpha] = factors.map(|factor| factor.cast::<T>().raise());
    multiply(sizes, matrix::<T>(left)?, matrix(right)?, Target::of(out)?, |row, column, sum| {
        let mut result = sum.times(alpha);
        if beta != T::Math::ZERO {
            result = result.plus(from.get(row * from_row + column * from_column).raise().times(beta));
        }
        result
    });
    Ok(())
}
