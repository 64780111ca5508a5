//! `aten::_cdist_forward`: the distances between all pairs of rows of two matrices, or of two batches of matrices.

use crate::family::opmath::Opmath;
use crate::family::place::Place;
use crate::family::transfer;
use crate::family::walk::Walk;
use crate::math::Math;
use crate::prelude::*;
use crate::products::distance::{Norm, Vector, distance};

/// `torch.cdist`. The mode of computing is not looked at: differences are always taken.
#[cfg(feature = "catalogue")]
pub const CDIST_FORWARD: Operator = Operator {
    schema: "aten::_cdist_forward.out(Tensor x1, Tensor x2, float p, int? compute_mode, *, Tensor(a!) out) \
             -> Tensor(a!)",
    functional: "aten::_cdist_forward",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "Euclidean",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[2, 2], &[0.0, 0.0, 3.0, 0.0])),
                Tensor(CaseTensor::float(&[3, 2], &[3.0, 4.0, 0.0, 4.0, 0.0, 0.0])),
                Double(2.0),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[2, 3], &[5.0, 4.0, 0.0, 4.0, 5.0, 3.0])],
        ),
        Case::exact(
            "the greatest difference, batches broadcast",
            &[
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 1, 2], &[0.0, 1.0, 2.0, 5.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1, 1, 2], &[4.0, -1.0])),
                Double(f64::INFINITY),
                CaseArgument::None,
            ],
            &[CaseTensor::of(ScalarType::Double, &[2, 1, 1], &[4.0, 6.0])],
        ),
        Case::near(
            "another norm",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[1, 2], &[1.0, 2.0])),
                Tensor(CaseTensor::float(&[1, 2], &[0.0, 0.0])),
                Double(3.0),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[1, 1], &[2.080_083_823])],
        ),
        Case::refused(
            "rows of different lengths",
            &[
                Tensor(CaseTensor::float(&[1, 1], &[1.0])),
                Tensor(CaseTensor::float(&[1, 2], &[1.0, 2.0])),
                Double(2.0),
                CaseArgument::None,
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (left, right) = (args.tensor(0)?.shape(), args.tensor(1)?.shape());
    let ([left_batch @ .., rows, length], [right_batch @ .., columns, other]) = (left.sizes(), right.sizes()) else {
        return Err(Error::InvalidArgument);
    };
    if length != other || Norm::new(args.double(2)?).is_none() {
        return Err(Error::InvalidArgument);
    }
    let mut shape = Shape::new(left_batch)?.broadcast(&Shape::new(right_batch)?)?;
    shape.push(*rows)?;
    shape.push(*columns)?;
    transfer::reshaped(args, shape)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let out = args.tensor(4)?;
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), floats, T => distances::<T>(args, &out))
}

fn distances<T: Opmath>(args: &Args<'_, '_>, out: &et_core::Tensor<'_>) -> Result<()>
where
    T::Math: Math,
{
    let (left, right, shape) = (args.tensor(0)?, args.tensor(1)?, out.shape());
    let norm = Norm::new(args.double(2)?).ok_or(Error::InvalidArgument)?;
    let (from, other, to) = (left.input::<T>()?, right.input::<T>()?, out.output::<T>()?);
    let length = left.size(left.rank() - 1);
    let [left_place, right_place] = [rows(&left, &shape, 0), rows(&right, &shape, 1)];
    let steps = [&left, &right].map(|tensor| tensor.strides()[tensor.rank() - 1]);
    for [left_at, right_at, to_at] in Walk::over(&shape, [left_place, right_place, Place::of(out)])? {
        let left = Vector { elements: from, start: left_at, step: steps[0] };
        let right = Vector { elements: other, start: right_at, step: steps[1] };
        to.set(to_at, distance(norm, left, right, length));
    }
    Ok(())
}

/// The start offset of the row that belongs to each output element. The rows of the left tensor (0) run along the
/// second-last output dimension, the rows of the right tensor (1) along the last.
fn rows(tensor: &et_core::Tensor<'_>, shape: &Shape, side: usize) -> Place {
    let (strides, rank, own) = (tensor.strides(), shape.rank(), tensor.rank());
    let mut place = Place { start: 0, strides: [0; et_core::MAX_RANK] };
    place.strides[rank - 2 + side] = strides[own - 2];
    let batches = place.strides.iter_mut().skip(rank - own).zip(strides).take(own - 2).enumerate();
    for (dim, (slot, stride)) in batches {
        *slot = if tensor.size(dim) == 1 { 0 } else { stride };
    }
    place
}
