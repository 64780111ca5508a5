//! `aten::fill`: a tensor of the same shape and dtype, filled with a number.

use crate::family::fill::fill;
use crate::family::place::Place;
use crate::family::{transfer, unary};
use crate::prelude::*;

/// `torch.fill` with a number.
#[cfg(feature = "catalogue")]
pub const FILL_SCALAR: Operator = Operator {
    schema: "aten::fill.Scalar_out(Tensor self, Scalar value, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::fill.Scalar",
    path: kernel_path!(scalar_out),
    dtypes: Dtypes::ALL,
    infer: unary::like_first,
    kernel: scalar_out::<ALL>,
    cases: &[
        Case::exact(
            "floats",
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 4.0])), Int(7)],
            &[CaseTensor::float(&[2, 2], &[7.0; 4])],
        ),
        Case::exact(
            "a fraction is cut for integers",
            &[Tensor(CaseTensor::of(ScalarType::Short, &[2], &[1.0, 2.0])), Double(2.9)],
            &[CaseTensor::of(ScalarType::Short, &[2], &[2.0, 2.0])],
        ),
        Case::exact(
            "booleans",
            &[Tensor(CaseTensor::bool(&[1], &[0.0])), Double(-0.5)],
            &[CaseTensor::bool(&[1], &[1.0])],
        ),
        Case::refused("text is no number", &[Tensor(CaseTensor::float(&[1], &[1.0])), Text("x")], Error::InvalidType),
    ],
};

/// `torch.fill` with a tensor of rank 0.
#[cfg(feature = "catalogue")]
pub const FILL_TENSOR: Operator = Operator {
    schema: "aten::fill.Tensor_out(Tensor self, Tensor value, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::fill.Tensor",
    path: kernel_path!(tensor_out),
    dtypes: Dtypes::ALL,
    infer: unary::like_first,
    kernel: tensor_out::<ALL>,
    cases: &[
        Case::exact(
            "floats",
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 4.0])), Tensor(CaseTensor::float(&[], &[7.0]))],
            &[CaseTensor::float(&[2, 2], &[7.0, 7.0, 7.0, 7.0])],
        ),
        Case::exact(
            "a fraction is cut for integers",
            &[Tensor(CaseTensor::of(ScalarType::Short, &[2], &[1.0, 2.0])), Tensor(CaseTensor::float(&[], &[2.9]))],
            &[CaseTensor::of(ScalarType::Short, &[2], &[2.0, 2.0])],
        ),
        Case::exact(
            "booleans",
            &[Tensor(CaseTensor::bool(&[1], &[0.0])), Tensor(CaseTensor::long(&[], &[3.0]))],
            &[CaseTensor::bool(&[1], &[1.0])],
        ),
        Case::refused(
            "a value with dimensions",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Tensor(CaseTensor::float(&[1], &[1.0]))],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel of a tensor and a number for the types in `D`.
pub fn scalar_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (like, value, out) = (args.tensor(0)?, args.scalar(1)?, args.tensor(2)?);
    fill::<D>(&out, &like.shape(), value)
}

/// The portable kernel of two tensors for the types in `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (like, value, out) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    if value.rank() != 0 {
        return Err(Error::InvalidArgument);
    }
    let shape = like.shape();
    out.resize(&shape)?;
    let everywhere = Place::broadcast(&value, &shape)?;
    transfer::region_converted::<D>(&shape, (&value, everywhere), (&out, Place::of(&out)))
}
