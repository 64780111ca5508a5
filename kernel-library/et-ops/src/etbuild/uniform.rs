//! `etbuild::uniform`: numbers from 0 up to and without 1, all equally likely, which a seed, the execution and the node decide. The caller chooses the type.

use crate::family::random::{Random, drawn, uniform};
use crate::prelude::*;

/// `state`, int64 `[2]`, has the seed and the number of executions before; `number` is that of the node in the program.
#[cfg(feature = "catalogue")]
pub const UNIFORM: Operator = Operator {
    schema: "etbuild::uniform.out(Tensor state, SymInt[] size, int number, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "etbuild::uniform",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS.with(ScalarType::Long),
    infer: drawn,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "the first numbers",
            1e-7,
            &[Tensor(CaseTensor::long(&[2], &[0.0, 0.0])), Ints(&[3]), Int(0)],
            &[CaseTensor::float(&[3], &[0.3990464210510254, 0.7357127666473389, 0.9722411632537842])],
        ),
        Case::near(
            "of another seed, execution and node",
            1e-7,
            &[Tensor(CaseTensor::long(&[2], &[7.0, 5.0])), Ints(&[1, 2]), Int(3)],
            &[CaseTensor::float(&[1, 2], &[0.6127607226371765, 0.5675508379936218])],
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
    dispatch!(D, out.scalar_type(), floats, T => uniform(out.output::<T>()?, Random::of(args)?))
}
