//! `aten::slice_scatter`: a copy of a tensor, with a second tensor in a slice of a dimension. The bounds are those of
//! `slice_copy`.

use crate::family::place::Place;
use crate::family::slice::Slice;
use crate::family::{transfer, unary};
use crate::prelude::*;

/// `torch.slice_scatter`.
#[cfg(feature = "catalogue")]
pub const SLICE_SCATTER: Operator = Operator {
    schema: "aten::slice_scatter.out(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::slice_scatter",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "every other column",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::float(&[2, 2], &[7.0, 8.0, 9.0, 10.0])),
                Int(1),
                CaseArgument::None,
                CaseArgument::None,
                Int(2),
            ],
            &[CaseTensor::float(&[2, 3], &[7.0, 2.0, 8.0, 9.0, 5.0, 10.0])],
        ),
        Case::exact(
            "rows from the end",
            &[
                Tensor(CaseTensor::long(&[3], &[1.0, 2.0, 3.0])),
                Tensor(CaseTensor::long(&[2], &[8.0, 9.0])),
                Int(0),
                Int(-2),
                Int(9223372036854775807),
                Int(1),
            ],
            &[CaseTensor::long(&[3], &[1.0, 8.0, 9.0])],
        ),
        Case::exact(
            "nothing",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::float(&[0, 3], &[])),
                Int(0),
                Int(2),
                Int(1),
                Int(1),
            ],
            &[CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])],
        ),
        Case::refused(
            "a source of another shape",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::float(&[1, 2], &[7.0, 8.0])),
                Int(1),
                Int(0),
                Int(2),
                Int(1),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "a step back",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Int(0),
                Int(0),
                Int(2),
                Int(-1),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, source, out] = [args.tensor(0)?, args.tensor(1)?, args.tensor(6)?];
    let slice = Slice::of(&input.shape(), args, 2)?;
    if slice.shape(&input.shape()) != source.shape() {
        return Err(Error::InvalidArgument);
    }
    transfer::whole::<D>(&input, &out)?;
    transfer::region::<D>(&source.shape(), (&source, Place::of(&source)), (&out, slice.place(Place::of(&out))))
}
