//! `aten::_pdist_forward`: the distance between each row of a matrix and each later row.

use crate::family::opmath::Opmath;
use crate::family::spatial::push;
use crate::family::transfer;
use crate::math::Math;
use crate::prelude::*;
use crate::products::distance::{Norm, Vector, distance};

/// `torch.nn.functional.pdist`.
#[cfg(feature = "catalogue")]
pub const PDIST_FORWARD: Operator = Operator {
    schema: "aten::_pdist_forward.out(Tensor self, float p=2., *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::_pdist_forward",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "sums of differences",
            &[Tensor(CaseTensor::float(&[3, 2], &[0.0, 0.0, 3.0, 4.0, -1.0, 4.0])), Double(1.0)],
            &[CaseTensor::float(&[3], &[7.0, 5.0, 4.0])],
        ),
        Case::exact(
            "Euclidean, in double precision",
            &[Tensor(CaseTensor::of(ScalarType::Double, &[2, 2], &[0.0, 0.0, 3.0, 4.0])), Double(2.0)],
            &[CaseTensor::of(ScalarType::Double, &[1], &[5.0])],
        ),
        Case::exact(
            "one row",
            &[Tensor(CaseTensor::float(&[1, 2], &[1.0, 2.0])), Double(2.0)],
            &[CaseTensor::float(&[0], &[])],
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let input = args.tensor(0)?;
    if input.rank() != 2 || Norm::new(args.double(1)?).is_none() {
        return Err(Error::InvalidArgument);
    }
    let (rows, mut shape) = (input.size(0) as u64, Shape::SCALAR);
    let pairs = rows * rows.saturating_sub(1) / 2;
    push(&mut shape, usize::try_from(pairs).map_err(|_| Error::InvalidArgument)?)?;
    transfer::reshaped(args, shape)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(2)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), floats, T => distances::<T>(args, &out))
}

fn distances<T: Opmath>(args: &Args<'_, '_>, out: &et_core::Tensor<'_>) -> Result<()>
where
    T::Math: Math,
{
    let input = args.tensor(0)?;
    let norm = Norm::new(args.double(1)?).ok_or(Error::InvalidArgument)?;
    let (elements, to, [row_step, step]) =
        (input.input::<T>()?, out.output::<T>()?, [0, 1].map(|dim| input.strides()[dim]));
    let row = |index: usize| Vector { elements, start: index * row_step, step };
    let pairs = (0..input.size(0)).flat_map(|left| (left + 1..input.size(0)).map(move |right| (left, right)));
    pairs.enumerate().for_each(|(at, (left, right))| to.set(at, distance(norm, row(left), row(right), input.size(1))));
    Ok(())
}
