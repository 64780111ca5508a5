//! `aten::embedding`: for each index, that row of `weight`.

use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::family::{index, transfer};
use crate::prelude::*;

/// `torch.nn.functional.embedding`.
#[cfg(feature = "catalogue")]
pub const EMBEDDING: Operator = Operator {
    schema: "aten::embedding.out(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, \
             bool sparse=False, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::embedding",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "rows",
            &[
                Tensor(CaseTensor::float(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::long(&[1, 3], &[2.0, 0.0, 2.0])),
                Int(-1),
                Bool(false),
                Bool(false),
            ],
            &[CaseTensor::float(&[1, 3, 2], &[5.0, 6.0, 1.0, 2.0, 5.0, 6.0])],
        ),
        Case::exact(
            "narrow indices and halves",
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[2, 1], &[1.0, 2.0])),
                Tensor(CaseTensor::of(ScalarType::Int, &[], &[1.0])),
                Int(-1),
                Bool(false),
                Bool(false),
            ],
            &[CaseTensor::of(ScalarType::Half, &[1], &[2.0])],
        ),
        Case::refused(
            "an index out of range",
            &[
                Tensor(CaseTensor::float(&[2, 1], &[1.0, 2.0])),
                Tensor(CaseTensor::long(&[1], &[2.0])),
                Int(-1),
                Bool(false),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (weight, mut shape) = (args.tensor(0)?.shape(), args.tensor(1)?.shape());
    let [_, width] = weight.sizes() else { return Err(Error::InvalidArgument) };
    shape.push(*width)?;
    transfer::reshaped(args, shape)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [weight, indices, out] = [args.tensor(0)?, args.tensor(1)?, args.tensor(5)?];
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    let (rows, row) = (weight.shape().size(0), Shape::new(&weight.shape().sizes()[1..])?);
    let inner = indices.shape().rank();
    for [index_at, start] in Walk::over(&indices.shape(), [Place::of(&indices), Place::of(&out)])? {
        let from =
            Place::of(&weight).moved(0, index::load(&indices, index_at, rows)? as i64).with_dims([1].into_iter());
        let to = Place::of(&out).at(start).with_dims([inner].into_iter());
        transfer::region::<D>(&row, (&weight, from), (&out, to))?;
    }
    Ok(())
}
