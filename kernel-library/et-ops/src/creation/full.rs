//! `aten::full`: a tensor filled with a number. The caller chooses the dtype.

use et_core::Scalar;

use crate::family::choice;
use crate::family::fill::{fill, sizes};
use crate::prelude::*;

/// `torch.full`.
#[cfg(feature = "catalogue")]
pub const FULL: Operator = Operator {
    schema: "aten::full.out(SymInt[] size, Scalar fill_value, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::full",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: rule,
    kernel: out::<ALL>,
    cases: &[
        Case::exact("floats", &[Ints(&[2, 3]), Double(0.5)], &[CaseTensor::float(&[2, 3], &[0.5; 6])]),
        Case::exact("integers", &[Ints(&[2]), Int(7)], &[CaseTensor::long(&[2], &[7.0, 7.0])]),
        Case::exact("booleans of rank 0", &[Ints(&[]), Bool(true)], &[CaseTensor::bool(&[], &[1.0])]),
        Case::converting(
            "another type",
            &[Ints(&[3]), Double(2.0)],
            &[CaseTensor::of(ScalarType::BFloat16, &[3], &[2.0; 3])],
        ),
        Case::refused("a negative size", &[Ints(&[2, -1]), Int(1)], Error::InvalidArgument),
    ],
};

/// The shape, and the type that the caller wants, else the default type of the number.
fn rule(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let usual = match args.scalar(1)? {
        Scalar::Int(_) => ScalarType::Long,
        Scalar::Bool(_) => ScalarType::Bool,
        Scalar::Double(_) => ScalarType::Float,
    };
    Ok(Meta { scalar_type: choice::scalar_type(args, 2, usual)?, shape: sizes(args, 0)? })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    fill::<D>(&args.tensor(2)?, &sizes(args, 0)?, args.scalar(1)?)
}
