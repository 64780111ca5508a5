//! `aten::gather`: reads each output element from the input, at the index that `index` gives along a dimension and at
//! the output element's own indices along the rest.

use et_core::Element;

use crate::family::place::Place;
use crate::family::walk::Walk;
use crate::family::{index, transfer};
use crate::prelude::*;

/// `torch.gather`.
#[cfg(feature = "catalogue")]
pub const GATHER: Operator = Operator {
    schema: "aten::gather.out(Tensor self, int dim, Tensor index, *, bool sparse_grad=False, Tensor(a!) out) \
             -> Tensor(a!)",
    functional: "aten::gather",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "along rows",
            &[
                Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 4.0])),
                Int(1),
                Tensor(CaseTensor::long(&[2, 3], &[0.0, 1.0, 0.0, 1.0, 1.0, 0.0])),
                Bool(false),
            ],
            &[CaseTensor::float(&[2, 3], &[1.0, 2.0, 1.0, 4.0, 4.0, 3.0])],
        ),
        Case::exact(
            "a part of the columns",
            &[
                Tensor(CaseTensor::long(&[2, 2], &[1.0, 2.0, 3.0, 4.0])),
                Int(0),
                Tensor(CaseTensor::long(&[1, 1], &[1.0])),
                Bool(false),
            ],
            &[CaseTensor::long(&[1, 1], &[3.0])],
        ),
        Case::refused(
            "more rows of indices than rows",
            &[
                Tensor(CaseTensor::float(&[1, 2], &[1.0, 2.0])),
                Int(1),
                Tensor(CaseTensor::long(&[2, 1], &[0.0, 0.0])),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "an index out of range",
            &[
                Tensor(CaseTensor::float(&[2], &[1.0, 2.0])),
                Int(0),
                Tensor(CaseTensor::long(&[1], &[2.0])),
                Bool(false),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (own, shape) = (args.tensor(0)?.shape(), args.tensor(2)?.shape());
    let axis = own.axis(args.int(1)?)?;
    let fits = own.rank() == shape.rank();
    let inside = (0..own.rank()).all(|dim| dim == axis || shape.size(dim) <= own.size(dim));
    if fits && (inside || shape.numel()? == 0) { transfer::reshaped(args, shape) } else { Err(Error::InvalidArgument) }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(4)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), all, T => gathered::<T>(args, &out))
}

fn gathered<T: Element>(args: &Args<'_, '_>, out: &et_core::Tensor<'_>) -> Result<()> {
    let [input, indices] = [args.tensor(0)?, args.tensor(2)?];
    let (from, to, axis) = (input.input::<T>()?, out.output::<T>()?, input.shape().axis(args.int(1)?)?);
    let ([_, size, _], step) = (input.shape().around(axis), input.strides()[axis]);
    let others = Place::of(&input).stepped(axis, 0);
    for [from_at, index_at, to_at] in Walk::over(&out.shape(), [others, Place::of(&indices), Place::of(out)])? {
        to.set(to_at, from.get(from_at + index::load(&indices, index_at, size)? * step));
    }
    Ok(())
}
