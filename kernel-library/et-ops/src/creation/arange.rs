//! `aten::arange`: numbers at equal distances, from `start` up to and without `end`.

use et_core::{Element, Scalar};

use crate::family::choice;
use crate::prelude::*;

/// `torch.arange` with a start and a step.
#[cfg(feature = "catalogue")]
pub const ARANGE_START: Operator = Operator {
    schema: "aten::arange.start_out(Scalar start, Scalar end, Scalar step=1, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::arange.start_step",
    path: kernel_path!(start_out),
    dtypes: Dtypes::NUMBERS,
    infer: infer_start,
    kernel: start_out::<ALL>,
    cases: &[
        Case::exact("integers", &[Int(1), Int(8), Int(3)], &[CaseTensor::long(&[3], &[1.0, 4.0, 7.0])]),
        Case::exact(
            "backwards in fractions",
            &[Int(1), Double(0.0), Double(-0.25)],
            &[CaseTensor::float(&[4], &[1.0, 0.75, 0.5, 0.25])],
        ),
        Case::refused("away from the end", &[Int(1), Int(0), Int(1)], Error::InvalidArgument),
        Case::refused("no step", &[Int(0), Int(1), Int(0)], Error::InvalidArgument),
    ],
};

/// `torch.arange` from 0 in steps of 1.
#[cfg(feature = "catalogue")]
pub const ARANGE: Operator = Operator {
    schema: "aten::arange.out(Scalar end, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::arange",
    path: kernel_path!(out),
    dtypes: Dtypes::NUMBERS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact("integers", &[Int(3)], &[CaseTensor::long(&[3], &[0.0, 1.0, 2.0])]),
        Case::exact("fractions", &[Double(1.5)], &[CaseTensor::float(&[2], &[0.0, 1.0])]),
        Case::refused("a negative end", &[Int(-1)], Error::InvalidArgument),
    ],
};

/// Start, end and step.
type Bounds = [Scalar; 3];

fn from_zero(args: &Args<'_, '_>) -> Result<Bounds> {
    Ok([Scalar::Int(0), args.scalar(0)?, Scalar::Int(1)])
}

fn from_start(args: &Args<'_, '_>) -> Result<Bounds> {
    Ok([args.scalar(0)?, args.scalar(1)?, args.scalar(2)?])
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    typed(args, from_zero(args)?, 1)
}

fn infer_start(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    typed(args, from_start(args)?, 3)
}

/// The usual type and shape, unless the caller wants another type of the output in position `out`.
fn typed(args: &Args<'_, '_>, bounds: Bounds, out: usize) -> Result<Meta> {
    let usual = meta(bounds)?;
    Ok(Meta { scalar_type: choice::scalar_type(args, out, usual.scalar_type)?, ..usual })
}

fn meta(bounds: Bounds) -> Result<Meta> {
    let fractional = bounds.iter().any(|bound| matches!(bound, Scalar::Double(_)));
    let count = if fractional { count(bounds.map(Scalar::to_f64)) } else { whole_count(bounds.map(Scalar::to_i64)) };
    let size = count.and_then(|count| i32::try_from(count).ok()).ok_or(Error::InvalidArgument)?;
    Ok(Meta { scalar_type: if fractional { ScalarType::Float } else { ScalarType::Long }, shape: Shape::new(&[size])? })
}

fn whole_count([start, end, step]: [i64; 3]) -> Option<i64> {
    let distance = end.checked_sub(start)?;
    let count = distance.checked_div(step)?.checked_add(i64::from(distance.checked_rem(step)? != 0))?;
    (distance == 0 || (distance < 0) == (step < 0)).then_some(count)
}

fn count([start, end, step]: [f64; 3]) -> Option<i64> {
    let steps = (end - start) / step;
    let whole = steps as i64;
    (step != 0.0 && steps >= 0.0).then(|| whole.saturating_add(i64::from((whole as f64) < steps)))
}

/// The portable kernel of `out` for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    fill::<D>(from_zero(args)?, &args.tensor(1)?)
}

/// The portable kernel of `start_out` for the types in `D`.
pub fn start_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    fill::<D>(from_start(args)?, &args.tensor(3)?)
}

fn fill<const D: u32>(bounds: Bounds, out: &et_core::Tensor<'_>) -> Result<()> {
    out.resize(&meta(bounds)?.shape)?;
    dispatch!(D, out.scalar_type(), numbers, T => numbers::<T>(bounds, out))
}

/// Integers are computed in `int64`, floating-point numbers in double precision, as in PyTorch.
fn numbers<T: Number>(bounds: Bounds, out: &et_core::Tensor<'_>) -> Result<()> {
    let to = out.output::<T>()?;
    if T::TYPE.is_integer() {
        let [start, _, step] = bounds.map(Scalar::to_i64);
        (0..to.len()).for_each(|index| to.set(index, T::from_i64(start.wrapping_add(step.wrapping_mul(index as i64)))));
    } else {
        let [start, _, step] = bounds.map(Scalar::to_f64);
        (0..to.len()).for_each(|index| to.set(index, Element::from_f64(start + step * index as f64)));
    }
    Ok(())
}
