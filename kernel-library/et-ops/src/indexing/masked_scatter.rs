//! `aten::masked_scatter`: the elements of a source, in order, where a mask is true.

use et_core::Element;

use crate::family::place::Place;
use crate::family::transfer;
use crate::family::walk::Walk;
use crate::prelude::*;

/// `torch.masked_scatter`.
#[cfg(feature = "catalogue")]
pub const MASKED_SCATTER: Operator = Operator {
    schema: "aten::masked_scatter.out(Tensor self, Tensor mask, Tensor source, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::masked_scatter",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "some elements",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::bool(&[2, 3], &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0])),
                Tensor(CaseTensor::float(&[2, 2], &[7.0, 8.0, 9.0, 10.0])),
            ],
            &[CaseTensor::float(&[2, 3], &[7.0, 2.0, 8.0, 4.0, 5.0, 9.0])],
        ),
        Case::exact(
            "a mask and an input that broadcast",
            &[
                Tensor(CaseTensor::long(&[2], &[1.0, 2.0])),
                Tensor(CaseTensor::bool(&[2, 1], &[1.0, 0.0])),
                Tensor(CaseTensor::long(&[3], &[5.0, 6.0, 7.0])),
            ],
            &[CaseTensor::long(&[2, 2], &[5.0, 6.0, 1.0, 2.0])],
        ),
        Case::refused(
            "a source with too few elements",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::bool(&[2, 3], &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0])),
                Tensor(CaseTensor::float(&[2], &[7.0, 8.0])),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    transfer::reshaped(args, args.tensor(0)?.shape().broadcast(&args.tensor(1)?.shape())?)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(3)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), all, T => scatter::<T>(args))
}

fn scatter<T: Element>(args: &Args<'_, '_>) -> Result<()> {
    let [input, mask, source, out] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?, args.tensor(3)?];
    let (from, write, values, to) =
        (input.input::<T>()?, mask.input::<bool>()?, source.input::<T>()?, out.output::<T>()?);
    let mut left = Walk::over(&source.shape(), [Place::of(&source)])?;
    for [from_at, mask_at, to_at] in Walk::new(&out.shape(), [&input, &mask, &out])? {
        if write.get(mask_at) {
            let [value_at] = left.next().ok_or(Error::InvalidArgument)?;
            to.set(to_at, values.get(value_at));
        } else {
            to.set(to_at, from.get(from_at));
        }
    }
    Ok(())
}
