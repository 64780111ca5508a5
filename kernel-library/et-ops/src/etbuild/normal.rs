//! `etbuild::normal`: numbers of the standard normal distribution, which a seed, the execution and the node decide. The caller chooses the type.

use crate::family::random::{Random, drawn, normal};
use crate::prelude::*;

/// `state`, int64 `[2]`, has the seed and the number of executions before; `number` is that of the node in the program.
#[cfg(feature = "catalogue")]
pub const NORMAL: Operator = Operator {
    schema: "etbuild::normal.out(Tensor state, SymInt[] size, int number, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "etbuild::normal",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long),
    infer: drawn,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "the first numbers",
            1e-6,
            &[Tensor(CaseTensor::long(&[2], &[0.0, 0.0])), Ints(&[3]), Int(0)],
            &[CaseTensor::float(&[3], &[-0.09047305844120267, -0.9238335510946979, 0.12542508072952097])],
        ),
        Case::near(
            "of another seed, execution and node",
            1e-6,
            &[Tensor(CaseTensor::long(&[2], &[7.0, 5.0])), Ints(&[1, 2]), Int(3)],
            &[CaseTensor::float(&[1, 2], &[-1.2552500023342599, 0.5060505933240664])],
        ),
        Case::converting(
            "no elements of another type",
            &[Tensor(CaseTensor::long(&[2], &[0.0, 0.0])), Ints(&[2, 0]), Int(1)],
            &[CaseTensor::of(ScalarType::Double, &[2, 0], &[])],
        ),
        Case::refused(
            "a state of one number",
            &[Tensor(CaseTensor::long(&[1], &[0.0])), Ints(&[2]), Int(1)],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(3)?;
    out.resize(&drawn(args, 0)?.shape)?;
    dispatch!(D, out.scalar_type(), floats, T => normal(out.output::<T>()?, Random::of(args)?))
}
