//! `aten::permute_copy`: dimensions in another order.

use crate::prelude::*;
use crate::views::permute::Permutation;

/// `torch.permute_copy`.
#[cfg(feature = "catalogue")]
pub const PERMUTE_COPY: Operator = Operator {
    schema: "aten::permute_copy.out(Tensor self, int[] dims, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::permute_copy",
    path: kernel_path!(out),
    dtypes: Dtypes::STORED,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "complex numbers",
            &[Tensor(CaseTensor::of(ScalarType::ComplexDouble, &[1, 2], &[1.0, 2.0, 3.0, -4.0])), Ints(&[1, 0])],
            &[CaseTensor::of(ScalarType::ComplexDouble, &[2, 1], &[1.0, 2.0, 3.0, -4.0])],
        ),
        Case::exact(
            "three dimensions",
            &[Tensor(CaseTensor::float(&[1, 2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Ints(&[2, 0, -2])],
            &[CaseTensor::float(&[3, 1, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0])],
        ),
        Case::exact("a scalar", &[Tensor(CaseTensor::bool(&[], &[1.0])), Ints(&[])], &[CaseTensor::bool(&[], &[1.0])]),
        Case::refused(
            "a dimension twice",
            &[Tensor(CaseTensor::float(&[1, 1], &[1.0])), Ints(&[0, 0])],
            Error::InvalidArgument,
        ),
    ],
};

fn permutation(args: &Args<'_, '_>) -> Result<Permutation> {
    Permutation::new(&args.tensor(0)?.shape(), &args.ints(1)?)
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    permutation(args)?.meta(args)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    permutation(args)?.copy::<D>(args, &args.tensor(2)?)
}
