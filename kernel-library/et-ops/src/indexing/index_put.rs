//! `aten::index_put` and `aten::index_put_`: writes to the positions that tensors of indices name.

use et_core::Tensor as Operand;

use crate::family::place::Place;
use crate::family::{transfer, unary};
use crate::indexing::elements::{Bound, Indexing};
use crate::prelude::*;

/// `torch.index_put`. Where positions repeat, the last value stays, or all add up.
#[cfg(feature = "catalogue")]
pub const INDEX_PUT: Operator = Operator {
    schema: "aten::index_put.out(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::index_put",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer: unary::like_first,
    kernel: out::<ALL>,
    cases: &[
        ROWS,
        COLUMNS,
        SUMS,
        Case::exact(
            "a mask",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                CaseArgument::OptionalTensors(&[Some(CaseTensor::bool(&[2, 3], &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0]))]),
                Tensor(CaseTensor::float(&[3], &[7.0, 8.0, 9.0])),
                Bool(false),
            ],
            &[CaseTensor::float(&[2, 3], &[7.0, 2.0, 8.0, 4.0, 5.0, 9.0])],
        ),
        Case::exact(
            "booleans add up to true",
            &[
                Tensor(CaseTensor::bool(&[2], &[0.0, 1.0])),
                CaseArgument::OptionalTensors(&[Some(CaseTensor::long(&[2], &[0.0, 0.0]))]),
                Tensor(CaseTensor::bool(&[2], &[1.0, 0.0])),
                Bool(true),
            ],
            &[CaseTensor::bool(&[2], &[1.0, 1.0])],
        ),
        Case::refused(
            "values of another shape",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                CaseArgument::OptionalTensors(&[Some(CaseTensor::long(&[2], &[0.0, 1.0]))]),
                Tensor(CaseTensor::float(&[2], &[1.0, 2.0])),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
        OUT_OF_RANGE,
    ],
};

/// `torch.Tensor.index_put_`: writes the first tensor.
#[cfg(feature = "catalogue")]
pub const INDEX_PUT_IN_PLACE: Operator = Operator {
    schema: "aten::index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
    functional: "aten::index_put_",
    path: kernel_path!(in_place),
    dtypes: Dtypes::ALL,
    infer: unary::like_first,
    kernel: in_place::<ALL>,
    cases: &[ROWS, COLUMNS, SUMS, OUT_OF_RANGE],
};

// Cases of both.
const ROWS: Case = Case::exact(
    "rows",
    &[
        Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
        CaseArgument::OptionalTensors(&[Some(CaseTensor::long(&[1], &[1.0]))]),
        Tensor(CaseTensor::float(&[1, 3], &[7.0, 8.0, 9.0])),
        Bool(false),
    ],
    &[CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 7.0, 8.0, 9.0])],
);
const COLUMNS: Case = Case::exact(
    "a number to columns",
    &[
        Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
        CaseArgument::OptionalTensors(&[None, Some(CaseTensor::of(ScalarType::Int, &[2], &[0.0, -1.0]))]),
        Tensor(CaseTensor::float(&[], &[0.5])),
        Bool(false),
    ],
    &[CaseTensor::float(&[2, 3], &[0.5, 2.0, 0.5, 0.5, 5.0, 0.5])],
);
const SUMS: Case = Case::exact(
    "sums where positions repeat",
    &[
        Tensor(CaseTensor::long(&[3], &[1.0, 2.0, 3.0])),
        CaseArgument::OptionalTensors(&[Some(CaseTensor::long(&[3], &[0.0, 0.0, 2.0]))]),
        Tensor(CaseTensor::long(&[3], &[10.0, 20.0, 30.0])),
        Bool(true),
    ],
    &[CaseTensor::long(&[3], &[31.0, 2.0, 33.0])],
);
const OUT_OF_RANGE: Case = Case::refused(
    "an index out of range",
    &[
        Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
        CaseArgument::OptionalTensors(&[Some(CaseTensor::long(&[1], &[-3.0]))]),
        Tensor(CaseTensor::float(&[], &[1.0])),
        Bool(false),
    ],
    Error::InvalidArgument,
);

/// The portable kernel of `out` for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(4)?);
    transfer::whole::<D>(&input, &out)?;
    put::<D>(args, &out)
}

/// The portable kernel of `index_put_` for the types in `D`.
pub fn in_place<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    put::<D>(args, &args.tensor(0)?)
}

fn put<const D: u32>(args: &Args<'_, '_>, out: &Operand<'_>) -> Result<()> {
    let values = args.tensor(2)?;
    let indexing = Indexing::new(args, out, Bound::Elements)?;
    let place = Place::broadcast(&values, &indexing.shape()?)?;
    if args.bool(3)? {
        return transfer::accumulate::<D>(&values, out, |add| indexing.for_each(args, out, place, add));
    }
    dispatch!(D, out.scalar_type(), all, T => {
        let (from, to) = (values.input::<T>()?, out.output::<T>()?);
        indexing.for_each(args, out, place, |own, value| to.set(own, from.get(value)))
    })
}
