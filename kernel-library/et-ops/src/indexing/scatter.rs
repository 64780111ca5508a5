//! `aten::scatter`: writes to positions whose index along a dimension is given.

use crate::family::place::Place;
use crate::family::{transfer, unary};
use crate::indexing::scattering::Scattering;
use crate::prelude::*;

/// `torch.scatter` of the elements of a tensor. Where positions repeat, the last stays.
#[cfg(feature = "catalogue")]
pub const SCATTER_SRC: Operator = Operator {
    schema: "aten::scatter.src_out(Tensor self, int dim, Tensor index, Tensor src, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::scatter.src",
    path: kernel_path!(src_out),
    dtypes: Dtypes::ALL,
    infer: unary::like_first,
    kernel: src_out::<ALL>,
    cases: &[
        Case::exact(
            "along columns",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Int(0),
                Tensor(CaseTensor::long(&[1, 3], &[1.0, 0.0, 1.0])),
                Tensor(CaseTensor::float(&[2, 3], &[10.0, 20.0, 30.0, 40.0, 50.0, 60.0])),
            ],
            &[CaseTensor::float(&[2, 3], &[1.0, 20.0, 3.0, 10.0, 5.0, 30.0])],
        ),
        Case::exact(
            "along rows, integers",
            &[
                Tensor(CaseTensor::long(&[2, 2], &[1.0, 2.0, 3.0, 4.0])),
                Int(-1),
                Tensor(CaseTensor::long(&[2, 1], &[1.0, 0.0])),
                Tensor(CaseTensor::long(&[2, 2], &[9.0, 8.0, 7.0, 6.0])),
            ],
            &[CaseTensor::long(&[2, 2], &[1.0, 9.0, 7.0, 4.0])],
        ),
        Case::exact(
            "no indices",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Int(1),
                Tensor(CaseTensor::long(&[1, 0], &[])),
                Tensor(CaseTensor::float(&[2, 3], &[10.0, 20.0, 30.0, 40.0, 50.0, 60.0])),
            ],
            &[CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])],
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

/// `torch.scatter` of a number.
#[cfg(feature = "catalogue")]
pub const SCATTER_VALUE: Operator = Operator {
    schema: "aten::scatter.value_out(Tensor self, int dim, Tensor index, Scalar value, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::scatter.value",
    path: kernel_path!(value_out),
    dtypes: Dtypes::ALL,
    infer: unary::like_first,
    kernel: value_out::<ALL>,
    cases: &[
        Case::exact(
            "a fraction",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Int(1),
                Tensor(CaseTensor::long(&[2, 1], &[2.0, 0.0])),
                Double(0.5),
            ],
            &[CaseTensor::float(&[2, 3], &[1.0, 2.0, 0.5, 0.5, 5.0, 6.0])],
        ),
        Case::exact(
            "an integer among halves",
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[2], &[1.0, 2.0])),
                Int(0),
                Tensor(CaseTensor::long(&[1], &[1.0])),
                Int(7),
            ],
            &[CaseTensor::of(ScalarType::Half, &[2], &[1.0, 7.0])],
        ),
        Case::exact(
            "a truth",
            &[Tensor(CaseTensor::bool(&[2], &[0.0, 0.0])), Int(0), Tensor(CaseTensor::long(&[1], &[1.0])), Bool(true)],
            &[CaseTensor::bool(&[2], &[0.0, 1.0])],
        ),
        Case::refused(
            "an index from the end",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Int(0),
                Tensor(CaseTensor::long(&[1, 1], &[-1.0])),
                Double(1.0),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// The portable kernel of `src_out` for the types in `D`.
pub fn src_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, source, out] = [args.tensor(0)?, args.tensor(3)?, args.tensor(4)?];
    let scattering = Scattering::new(args, &out, Some(&source))?;
    transfer::whole::<D>(&input, &out)?;
    dispatch!(D, out.scalar_type(), all, T => {
        let (from, to) = (source.input::<T>()?, out.output::<T>()?);
        scattering.for_each(Place::of(&source), |own, value| to.set(own, from.get(value)))
    })
}

/// The portable kernel of `value_out` for the types in `D`.
pub fn value_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(4)?);
    let scattering = Scattering::new(args, &out, None)?;
    transfer::whole::<D>(&input, &out)?;
    dispatch!(D, out.scalar_type(), all, T => {
        let (value, to) = (args.scalar(3)?.cast(), out.output::<T>()?);
        scattering.for_each(Place::of(&out), |own, _| to.set(own, value))
    })
}
