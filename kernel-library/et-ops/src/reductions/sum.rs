//! `aten::sum`: sums along some or all dimensions. Integers and booleans sum up as `int64`.

use crate::prelude::*;
use crate::reductions::total;

/// `torch.sum`.
#[cfg(feature = "catalogue")]
pub const SUM: Operator = Operator {
    schema: "aten::sum.IntList_out(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, \
             Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::sum.dim_IntList",
    path: kernel_path!(int_list_out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: int_list_out::<ALL>,
    cases: &[
        Case::exact(
            "rows",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Ints(&[-1]),
                Bool(true),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[2, 1], &[6.0, 15.0])],
        ),
        Case::exact(
            "booleans are counted",
            &[Tensor(CaseTensor::bool(&[3], &[1.0, 0.0, 1.0])), CaseArgument::None, Bool(false), CaseArgument::None],
            &[CaseTensor::long(&[], &[2.0])],
        ),
        Case::exact(
            "two dimensions as another type",
            &[
                Tensor(CaseTensor::of(ScalarType::Int, &[2, 1, 2], &[1.0, 2.0, 3.0, 4.0])),
                Ints(&[0, 1]),
                Bool(false),
                CaseArgument::Type(ScalarType::Float),
            ],
            &[CaseTensor::float(&[2], &[4.0, 6.0])],
        ),
        Case::exact(
            "nothing",
            &[Tensor(CaseTensor::float(&[0, 2], &[])), Ints(&[0]), Bool(false), CaseArgument::None],
            &[CaseTensor::float(&[2], &[0.0, 0.0])],
        ),
        Case::refused(
            "a dimension twice",
            &[Tensor(CaseTensor::float(&[1, 1], &[1.0])), Ints(&[0, 0]), Bool(false), CaseArgument::None],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let own = args.tensor(0)?.scalar_type();
    total::meta(args, if own.is_float() { own } else { ScalarType::Long })
}

/// The portable kernel for the types in `D`.
pub fn int_list_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(4)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), numbers, T => total::store::<T, D>(args, &out, |sum, _| sum))
}
