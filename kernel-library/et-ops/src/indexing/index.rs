//! `aten::index`: the elements at the positions that index tensors select (NumPy's advanced indexing).

use crate::family::choice;
use crate::family::place::Place;
use crate::family::transfer;
use crate::indexing::elements::{Bound, Indexing};
use crate::prelude::*;

/// `self[indices]`. A boolean mask selects the positions at which the mask is true.
#[cfg(feature = "catalogue")]
pub const INDEX: Operator = Operator {
    schema: "aten::index.Tensor_out(Tensor self, Tensor?[] indices, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::index.Tensor",
    path: kernel_path!(tensor_out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: tensor_out::<ALL>,
    cases: &[
        Case::exact(
            "rows, counted from either end",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                CaseArgument::OptionalTensors(&[Some(CaseTensor::long(&[3], &[1.0, -2.0, 1.0]))]),
            ],
            &[CaseTensor::float(&[3, 3], &[4.0, 5.0, 6.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])],
        ),
        Case::exact(
            "columns",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                CaseArgument::OptionalTensors(&[None, Some(CaseTensor::of(ScalarType::Int, &[2], &[2.0, 0.0]))]),
            ],
            &[CaseTensor::float(&[2, 2], &[3.0, 1.0, 6.0, 4.0])],
        ),
        Case::exact(
            "pairs that broadcast",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                CaseArgument::OptionalTensors(&[
                    Some(CaseTensor::long(&[2, 1], &[0.0, 1.0])),
                    Some(CaseTensor::long(&[2], &[0.0, 2.0])),
                ]),
            ],
            &[CaseTensor::float(&[2, 2], &[1.0, 3.0, 4.0, 6.0])],
        ),
        Case::exact(
            "dimensions apart come first",
            &[
                Tensor(CaseTensor::long(&[2, 3, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0])),
                CaseArgument::OptionalTensors(&[
                    Some(CaseTensor::long(&[3], &[0.0, 1.0, 1.0])),
                    None,
                    Some(CaseTensor::long(&[3], &[1.0, 0.0, 1.0])),
                ]),
            ],
            &[CaseTensor::long(&[3, 3], &[1.0, 3.0, 5.0, 6.0, 8.0, 10.0, 7.0, 9.0, 11.0])],
        ),
        Case::bounded(
            "a mask of rows",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                CaseArgument::OptionalTensors(&[Some(CaseTensor::bool(&[2], &[0.0, 1.0]))]),
            ],
            &[CaseTensor::float(&[1, 3], &[4.0, 5.0, 6.0])],
        ),
        Case::bounded(
            "a mask of all elements",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                CaseArgument::OptionalTensors(&[Some(CaseTensor::bool(&[2, 3], &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0]))]),
            ],
            &[CaseTensor::float(&[3], &[1.0, 3.0, 6.0])],
        ),
        Case::exact(
            "a mask of one row beside indices",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                CaseArgument::OptionalTensors(&[
                    Some(CaseTensor::bool(&[2], &[0.0, 1.0])),
                    Some(CaseTensor::long(&[2], &[0.0, 2.0])),
                ]),
            ],
            &[CaseTensor::float(&[2], &[4.0, 6.0])],
        ),
        Case::exact(
            "no indices",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                CaseArgument::OptionalTensors(&[Some(CaseTensor::long(&[0], &[]))]),
            ],
            &[CaseTensor::float(&[0, 3], &[])],
        ),
        Case::refused(
            "an index out of range",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                CaseArgument::OptionalTensors(&[Some(CaseTensor::long(&[1], &[2.0]))]),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "more indices than dimensions",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                CaseArgument::OptionalTensors(&[
                    Some(CaseTensor::long(&[1], &[0.0])),
                    Some(CaseTensor::long(&[1], &[0.0])),
                    Some(CaseTensor::long(&[1], &[0.0])),
                ]),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "indices that do not broadcast",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                CaseArgument::OptionalTensors(&[
                    Some(CaseTensor::long(&[2], &[0.0, 1.0])),
                    Some(CaseTensor::long(&[3], &[0.0, 1.0, 2.0])),
                ]),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let bound = Indexing::new(args, &args.tensor(0)?, Bound::Shapes)?.shape()?;
    transfer::reshaped(args, choice::shape(args, 2, bound)?)
}

/// The portable kernel for the types in `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(2)?);
    let indexing = Indexing::new(args, &input, Bound::Elements)?;
    out.resize(&indexing.shape()?)?;
    dispatch!(D, out.scalar_type(), all, T => {
        let (from, to) = (input.input::<T>()?, out.output::<T>()?);
        indexing.for_each(args, &input, Place::of(&out), |own, result| to.set(result, from.get(own)))
    })
}
