//! `aten::scatter_add`: adds to positions whose index along a dimension is given.

use crate::family::place::Place;
use crate::family::{transfer, unary};
use crate::indexing::scattering::Scattering;
use crate::prelude::*;

/// `torch.scatter_add`.
#[cfg(feature = "catalogue")]
pub const SCATTER_ADD: Operator = Operator {
    schema: "aten::scatter_add.out(Tensor self, int dim, Tensor index, Tensor src, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::scatter_add",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "positions that repeat",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Int(1),
                Tensor(CaseTensor::long(&[2, 3], &[0.0, 0.0, 2.0, 1.0, 1.0, 1.0])),
                Tensor(CaseTensor::float(&[2, 3], &[10.0, 20.0, 30.0, 40.0, 50.0, 60.0])),
            ],
            &[CaseTensor::float(&[2, 3], &[31.0, 2.0, 33.0, 4.0, 155.0, 6.0])],
        ),
        Case::exact(
            "integers along columns",
            &[
                Tensor(CaseTensor::long(&[2, 1], &[1.0, 2.0])),
                Int(0),
                Tensor(CaseTensor::long(&[2, 1], &[1.0, 1.0])),
                Tensor(CaseTensor::long(&[2, 1], &[5.0, 6.0])),
            ],
            &[CaseTensor::long(&[2, 1], &[1.0, 13.0])],
        ),
        Case::exact(
            "booleans add up to true",
            &[
                Tensor(CaseTensor::bool(&[2], &[0.0, 0.0])),
                Int(0),
                Tensor(CaseTensor::long(&[2], &[0.0, 0.0])),
                Tensor(CaseTensor::bool(&[2], &[1.0, 1.0])),
            ],
            &[CaseTensor::bool(&[2], &[1.0, 0.0])],
        ),
        Case::refused(
            "an index out of range",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Int(0),
                Tensor(CaseTensor::long(&[1, 1], &[2.0])),
                Tensor(CaseTensor::float(&[2, 3], &[10.0, 20.0, 30.0, 40.0, 50.0, 60.0])),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "more indices than values",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Int(1),
                Tensor(CaseTensor::long(&[1, 4], &[0.0, 0.0, 0.0, 0.0])),
                Tensor(CaseTensor::float(&[2, 3], &[10.0, 20.0, 30.0, 40.0, 50.0, 60.0])),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, source, out] = [args.tensor(0)?, args.tensor(3)?, args.tensor(4)?];
    let scattering = Scattering::new(args, &out, Some(&source))?;
    transfer::whole::<D>(&input, &out)?;
    transfer::accumulate::<D>(&source, &out, |add| scattering.for_each(Place::of(&source), add))
}
