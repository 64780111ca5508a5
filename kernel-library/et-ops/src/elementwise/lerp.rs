//! `aten::lerp`: between two tensors, as far from the first as the weight says.

use et_core::Number as _;

use crate::family::opmath::Opmath;
use crate::family::walk::Walk;
use crate::family::{binary, transfer};
use crate::math::Math;
use crate::prelude::*;

/// `torch.lerp` with a number as weight.
#[cfg(feature = "catalogue")]
pub const LERP_SCALAR: Operator = Operator {
    schema: "aten::lerp.Scalar_out(Tensor self, Tensor end, Scalar weight, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::lerp.Scalar",
    path: kernel_path!(scalar_out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: scalar_out::<ALL>,
    cases: &[
        Case::exact(
            "a quarter of the way, broadcast",
            &[
                Tensor(CaseTensor::float(&[2, 1], &[0.0, 8.0])),
                Tensor(CaseTensor::float(&[2], &[4.0, 16.0])),
                Double(0.25),
            ],
            &[CaseTensor::float(&[2, 2], &[1.0, 4.0, 7.0, 10.0])],
        ),
        Case::exact(
            "beyond the end in half precision",
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[1], &[1.0])),
                Tensor(CaseTensor::of(ScalarType::Half, &[1], &[3.0])),
                Int(2),
            ],
            &[CaseTensor::of(ScalarType::Half, &[1], &[5.0])],
        ),
        Case::refused(
            "different types",
            &[
                Tensor(CaseTensor::float(&[1], &[1.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[3.0])),
                Double(0.5),
            ],
            Error::InvalidType,
        ),
    ],
};

/// `torch.lerp` with a tensor of weights.
#[cfg(feature = "catalogue")]
pub const LERP_TENSOR: Operator = Operator {
    schema: "aten::lerp.Tensor_out(Tensor self, Tensor end, Tensor weight, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::lerp.Tensor",
    path: kernel_path!(tensor_out),
    dtypes: Dtypes::FLOATS,
    infer: infer_tensors,
    kernel: tensor_out::<ALL>,
    cases: &[Case::exact(
        "a weight for each row",
        &[
            Tensor(CaseTensor::float(&[1, 2], &[0.0, 8.0])),
            Tensor(CaseTensor::float(&[2], &[4.0, 16.0])),
            Tensor(CaseTensor::float(&[2, 1], &[0.25, 0.75])),
        ],
        &[CaseTensor::float(&[2, 2], &[1.0, 10.0, 3.0, 14.0])],
    )],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    if args.tensor(0)?.scalar_type() == args.tensor(1)?.scalar_type() {
        binary::promoted(args, index)
    } else {
        Err(Error::InvalidType)
    }
}

fn infer_tensors(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let (common, weight) = (infer(args, index)?, args.tensor(2)?);
    if weight.scalar_type() != common.scalar_type {
        return Err(Error::InvalidType);
    }
    transfer::reshaped(args, common.shape.broadcast(&weight.shape())?)
}

/// The portable kernel for the types in `D`.
pub fn scalar_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (start, end, weight, out) = (args.tensor(0)?, args.tensor(1)?, args.double(2)?, args.tensor(3)?);
    infer(args, 0)?;
    dispatch!(D, out.scalar_type(), floats, T => {
        let weight = et_core::Element::from_f64(weight);
        binary::zip::<T, T, D>([&start, &end, &out], |start, end| between(start, end, weight))
    })
}

/// The portable kernel for the types in `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [start, end, weight, out] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?, args.tensor(3)?];
    let shape = infer_tensors(args, 0)?.shape;
    out.resize(&shape)?;
    dispatch!(D, out.scalar_type(), floats, T => {
        let [starts, ends, weights] = [start.input::<T>()?, end.input::<T>()?, weight.input::<T>()?];
        let to = out.output::<T>()?;
        for [start_at, end_at, weight_at, at] in Walk::new(&shape, [&start, &end, &weight, &out])? {
            to.set(at, between(starts.get(start_at), ends.get(end_at), weights.get(weight_at).raise()));
        }
        Ok(())
    })
}

/// Computed from the nearer of the two, so that a weight of 1 gives the end.
fn between<T: Opmath>(start: T, end: T, weight: T::Math) -> T
where
    T::Math: Math,
{
    let (start, end, half) = (start.raise(), end.raise(), <T::Math as et_core::Element>::from_f64(0.5));
    let size = if weight < T::Math::ZERO { weight.negated() } else { weight };
    let distance = end - start;
    T::lower(if size < half { start + weight * distance } else { end - distance * (T::Math::ONE - weight) })
}
