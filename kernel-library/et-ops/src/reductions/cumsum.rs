//! `aten::cumsum`: cumulative sums along a dimension. Integers and booleans are summed as `int64`.

use crate::family::convert::reading;
use crate::family::lane::Lanes;
use crate::family::opmath::Opmath;
use crate::prelude::*;

/// `torch.cumsum`.
#[cfg(feature = "catalogue")]
pub const CUMSUM: Operator = Operator {
    schema: "aten::cumsum.out(Tensor self, int dim, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)",
    functional: "aten::cumsum",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "columns",
            &[Tensor(CaseTensor::float(&[2, 2], &[1.0, 2.0, 3.0, 4.0])), Int(0), CaseArgument::None],
            &[CaseTensor::float(&[2, 2], &[1.0, 2.0, 4.0, 6.0])],
        ),
        Case::exact(
            "booleans",
            &[Tensor(CaseTensor::bool(&[3], &[1.0, 0.0, 1.0])), Int(-1), CaseArgument::None],
            &[CaseTensor::long(&[3], &[1.0, 1.0, 2.0])],
        ),
        Case::exact(
            "a scalar as another type",
            &[Tensor(CaseTensor::long(&[], &[3.0])), Int(0), CaseArgument::Type(ScalarType::Float)],
            &[CaseTensor::float(&[], &[3.0])],
        ),
        Case::refused(
            "beyond the end",
            &[Tensor(CaseTensor::float(&[1], &[1.0])), Int(1), CaseArgument::None],
            Error::InvalidArgument,
        ),
    ],
};

/// The shape of the input, as `int64` unless it is a floating-point type or argument 2 names a type.
pub fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let input = args.tensor(0)?;
    input.shape().axis(args.int(1)?)?;
    let own = if input.scalar_type().is_float() { input.scalar_type() } else { ScalarType::Long };
    Ok(Meta { scalar_type: args.optional_scalar_type(2)?.unwrap_or(own), shape: input.shape() })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(3)?);
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    dispatch!(D, out.scalar_type(), numbers, T => running_sums::<T, D>(&input, args.int(1)?, &out))
}

fn running_sums<T: Opmath, const D: u32>(
    input: &et_core::Tensor<'_>,
    dim: i64,
    out: &et_core::Tensor<'_>,
) -> Result<()> {
    let (shape, to) = (input.shape(), out.output::<T>()?);
    let axis = shape.axis(dim)?;
    let [_, length, _] = shape.around(axis);
    reading::<T::Math, D>(input, &mut |load| {
        let lanes = Lanes::new(&shape, axis, [input, out])?;
        let [from_step, to_step] = lanes.steps;
        for [from, start] in lanes {
            (0..length).fold(T::Math::ZERO, |sum, index| {
                let sum = sum.plus(load(from + index * from_step));
                to.set(start + index * to_step, T::lower(sum));
                sum
            });
        }
        Ok(())
    })
}
