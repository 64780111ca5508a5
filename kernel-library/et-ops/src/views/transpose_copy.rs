//! `aten::transpose_copy`: two dimensions exchanged.

use crate::prelude::*;
use crate::views::permute::Permutation;

/// `torch.transpose_copy`.
#[cfg(feature = "catalogue")]
pub const TRANSPOSE_COPY: Operator = Operator {
    schema: "aten::transpose_copy.int_out(Tensor self, int dim0, int dim1, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::transpose_copy.int",
    path: kernel_path!(int_out),
    dtypes: Dtypes::STORED,
    infer,
    kernel: int_out::<ALL>,
    cases: &[
        Case::exact(
            "the last two",
            &[Tensor(CaseTensor::float(&[1, 2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Int(-1), Int(1)],
            &[CaseTensor::float(&[1, 3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0])],
        ),
        Case::exact(
            "a scalar",
            &[Tensor(CaseTensor::long(&[], &[3.0])), Int(0), Int(-1)],
            &[CaseTensor::long(&[], &[3.0])],
        ),
        Case::refused(
            "beyond the end",
            &[Tensor(CaseTensor::float(&[1, 1], &[1.0])), Int(0), Int(2)],
            Error::InvalidArgument,
        ),
    ],
};

fn permutation(args: &Args<'_, '_>) -> Result<Permutation> {
    Permutation::exchange(&args.tensor(0)?.shape(), args.int(1)?, args.int(2)?)
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    permutation(args)?.meta(args)
}

/// The portable kernel for the types in `D`.
pub fn int_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    permutation(args)?.copy::<D>(args, &args.tensor(3)?)
}
