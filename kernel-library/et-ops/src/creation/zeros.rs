//! `aten::zeros`: a tensor filled with 0. The caller chooses the dtype.

use et_core::Scalar;

use crate::family::fill;
use crate::prelude::*;

/// `torch.zeros`.
#[cfg(feature = "catalogue")]
pub const ZEROS: Operator = Operator {
    schema: "aten::zeros.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::zeros",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: fill::of_sizes::<1>,
    kernel: out::<ALL>,
    cases: &[
        Case::exact("floats", &[Ints(&[2, 3])], &[CaseTensor::float(&[2, 3], &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0])]),
        Case::converting(
            "another type",
            &[Ints(&[3])],
            &[CaseTensor::of(ScalarType::BFloat16, &[3], &[0.0, 0.0, 0.0])],
        ),
        Case::converting("booleans of rank 0", &[Ints(&[])], &[CaseTensor::bool(&[], &[0.0])]),
        Case::refused("a negative size", &[Ints(&[2, -1])], Error::InvalidArgument),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    fill::fill::<D>(&args.tensor(1)?, &fill::sizes(args, 0)?, Scalar::Int(0))
}
