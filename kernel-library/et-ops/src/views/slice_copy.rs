//! `aten::slice_copy`: every `step`-th element of a range of a dimension. Negative bounds count from the end; bounds
//! are clamped.

use crate::family::place::Place;
use crate::family::slice::Slice;
use crate::family::transfer;
use crate::prelude::*;

/// `torch.slice_copy`.
#[cfg(feature = "catalogue")]
pub const SLICE_COPY: Operator = Operator {
    schema: "aten::slice_copy.Tensor_out(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1, \
             *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::slice_copy.Tensor",
    path: kernel_path!(tensor_out),
    dtypes: Dtypes::STORED,
    infer,
    kernel: tensor_out::<ALL>,
    cases: &[
        Case::exact(
            "columns from the end",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Int(1),
                Int(-2),
                Int(i64::MAX),
                Int(1),
            ],
            &[CaseTensor::float(&[2, 2], &[2.0, 3.0, 5.0, 6.0])],
        ),
        Case::exact(
            "every other row",
            &[Tensor(CaseTensor::long(&[5], &[0.0, 1.0, 2.0, 3.0, 4.0])), Int(0), CaseArgument::None, Int(4), Int(2)],
            &[CaseTensor::long(&[2], &[0.0, 2.0])],
        ),
        Case::exact(
            "an empty range",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Int(-1), Int(2), Int(1), Int(1)],
            &[CaseTensor::float(&[0], &[])],
        ),
        Case::refused(
            "a step back",
            &[Tensor(CaseTensor::float(&[2], &[1.0, 2.0])), Int(0), Int(0), Int(2), Int(-1)],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let whole = args.tensor(0)?.shape();
    transfer::reshaped(args, Slice::of(&whole, args, 1)?.shape(&whole))
}

/// The portable kernel for the types in `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(5)?);
    let slice = Slice::of(&input.shape(), args, 1)?;
    let shape = slice.shape(&input.shape());
    out.resize(&shape)?;
    transfer::region::<D>(&shape, (&input, slice.place(Place::of(&input))), (&out, Place::of(&out)))
}
