//! `aten::select_scatter`: a copy of a tensor, with a second tensor at an index of a dimension.

use crate::family::place::Place;
use crate::family::{transfer, unary};
use crate::prelude::*;

/// `torch.select_scatter`.
#[cfg(feature = "catalogue")]
pub const SELECT_SCATTER: Operator = Operator {
    schema: "aten::select_scatter.out(Tensor self, Tensor src, int dim, SymInt index, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::select_scatter",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "a column from the end",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::float(&[2], &[7.0, 8.0])),
                Int(1),
                Int(-1),
            ],
            &[CaseTensor::float(&[2, 3], &[1.0, 2.0, 7.0, 4.0, 5.0, 8.0])],
        ),
        Case::exact(
            "an element",
            &[Tensor(CaseTensor::long(&[2], &[1.0, 2.0])), Tensor(CaseTensor::long(&[], &[9.0])), Int(0), Int(0)],
            &[CaseTensor::long(&[2], &[9.0, 2.0])],
        ),
        Case::refused(
            "an index out of range",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::float(&[2], &[7.0, 8.0])),
                Int(1),
                Int(3),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "a source of another shape",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::float(&[1], &[7.0])),
                Int(1),
                Int(0),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, source, out] = [args.tensor(0)?, args.tensor(1)?, args.tensor(4)?];
    let (dim, shape) = (input.shape().axis(args.int(2)?)?, source.shape());
    let others = (0..input.rank()).filter(|other| *other != dim);
    let (size, index) = (input.size(dim) as i64, args.int(3)?);
    let index = if index < 0 { index + size } else { index };
    let fits = shape.sizes().iter().copied().eq(others.clone().map(|other| input.size(other) as i32));
    if !fits || !(0..size).contains(&index) {
        return Err(Error::InvalidArgument);
    }
    transfer::whole::<D>(&input, &out)?;
    let to = Place::of(&out).moved(dim, index).with_dims(others);
    transfer::region::<D>(&shape, (&source, Place::of(&source)), (&out, to))
}
