//! `aten::t_copy`: transposes a matrix; tensors of rank 0 and 1 are copied.

use crate::prelude::*;
use crate::views::permute::Permutation;

/// `torch.t_copy`.
#[cfg(feature = "catalogue")]
pub const T_COPY: Operator = Operator {
    schema: "aten::t_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::t_copy",
    path: kernel_path!(out),
    dtypes: Dtypes::STORED,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "a matrix",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))],
            &[CaseTensor::float(&[3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0])],
        ),
        Case::exact("a vector", &[Tensor(CaseTensor::long(&[2], &[3.0, 4.0]))], &[CaseTensor::long(&[2], &[3.0, 4.0])]),
        Case::refused("three dimensions", &[Tensor(CaseTensor::float(&[1, 1, 1], &[1.0]))], Error::InvalidArgument),
    ],
};

fn permutation(args: &Args<'_, '_>) -> Result<Permutation> {
    let shape = args.tensor(0)?.shape();
    match shape.rank() {
        0 | 1 => Ok(Permutation::identity(&shape)),
        2 => Permutation::exchange(&shape, 0, 1),
        _ => Err(Error::InvalidArgument),
    }
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    permutation(args)?.meta(args)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    permutation(args)?.copy::<D>(args, &args.tensor(1)?)
}
