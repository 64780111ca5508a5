//! `aten::glu`: the first half of a dimension times the sigmoid of the second half.

use crate::family::place::Place;
use crate::family::real::Real;
use crate::family::transfer;
use crate::family::walk::Walk;
use crate::math::Math;
use crate::prelude::*;

/// `torch.nn.functional.glu`.
#[cfg(feature = "catalogue")]
pub const GLU: Operator = Operator {
    schema: "aten::glu.out(Tensor self, int dim=-1, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::glu",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::near(
            "rows",
            1e-6,
            &[
                Tensor(CaseTensor::float(&[2, 4], &[1.0, 2.0, 3.0, -4.0, f64::NAN, 2.0, -100.0, f64::INFINITY])),
                Int(-1),
            ],
            &[CaseTensor::float(&[2, 2], &[0.95257413, 0.03597242, f64::NAN, 2.0])],
        ),
        Case::near(
            "columns",
            1e-6,
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, -4.0])), Int(0)],
            &[CaseTensor::float(&[1, 2], &[0.95257413, 0.03597242])],
        ),
        Case::near(
            "doubles",
            1e-14,
            &[Tensor(CaseTensor::of(ScalarType::Double, &[2], &[1.0, 0.5])), Int(0)],
            &[CaseTensor::of(ScalarType::Double, &[1], &[0.6224593312018546])],
        ),
        Case::near(
            "halves",
            1e-3,
            &[Tensor(CaseTensor::of(ScalarType::Half, &[4], &[1.0, 2.0, 3.0, -4.0])), Int(-1)],
            &[CaseTensor::of(ScalarType::Half, &[2], &[0.9526367, 0.035980225])],
        ),
        Case::refused(
            "an odd size",
            &[Tensor(CaseTensor::float(&[3], &[1.0, 2.0, 3.0])), Int(-1)],
            Error::InvalidArgument,
        ),
        Case::refused("no dimension", &[Tensor(CaseTensor::float(&[], &[1.0])), Int(-1)], Error::InvalidArgument),
        Case::refused("integers", &[Tensor(CaseTensor::long(&[2], &[1.0, 2.0])), Int(-1)], Error::InvalidType),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (mut shape, axis) = (args.tensor(0)?.shape(), args.tensor(0)?.shape().axis(args.int(1)?)?);
    let size = shape.sizes_mut().get_mut(axis).filter(|size| **size % 2 == 0).ok_or(Error::InvalidArgument)?;
    *size /= 2;
    transfer::reshaped(args, shape)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    args.tensor(2)?.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, args.tensor(0)?.scalar_type(), floats, T => gate::<T>(args))
}

fn gate<T: Real>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(2)?);
    let (shape, axis) = (out.shape(), input.shape().axis(args.int(1)?)?);
    let first = Place::of(&input);
    let second = first.moved(axis, i64::from(shape.sizes()[axis]));
    let (from, to) = (input.input::<T>()?, out.output::<T>()?);
    Walk::over(&shape, [first, second, Place::of(&out)])?.for_each(|[value, gate, out_at]| {
        let sigmoid = T::Wide::ONE / (T::Wide::ONE + (-from.get(gate).widen()).exp());
        to.set(out_at, T::narrow(from.get(value).widen() * sigmoid));
    });
    Ok(())
}
