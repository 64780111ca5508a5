//! `aten::flip`: the named dimensions in reverse.

use crate::family::place::Place;
use crate::family::reduce::Folded;
use crate::family::{transfer, unary};
use crate::prelude::*;

/// `torch.flip`.
#[cfg(feature = "catalogue")]
pub const FLIP: Operator = Operator {
    schema: "aten::flip.out(Tensor self, int[] dims, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::flip",
    path: kernel_path!(out),
    dtypes: Dtypes::STORED,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "columns",
            &[Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), Ints(&[-1])],
            &[CaseTensor::float(&[2, 3], &[3.0, 2.0, 1.0, 6.0, 5.0, 4.0])],
        ),
        Case::exact(
            "both dimensions",
            &[Tensor(CaseTensor::long(&[2, 2], &[1.0, 2.0, 3.0, 4.0])), Ints(&[0, 1])],
            &[CaseTensor::long(&[2, 2], &[4.0, 3.0, 2.0, 1.0])],
        ),
        Case::refused(
            "a dimension twice",
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0; 4])), Ints(&[0, -2])],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(2)?);
    let shape = input.shape();
    let flipped = Folded::of(&shape, &args.ints(1)?)?;
    out.resize(&shape)?;
    let dims = (0..shape.rank()).filter(|dim| flipped.contains(*dim));
    let from = dims.fold(Place::of(&input), |place, dim| place.moved(dim, shape.size(dim) as i64 - 1).stepped(dim, -1));
    transfer::region::<D>(&shape, (&input, from), (&out, Place::of(&out)))
}
