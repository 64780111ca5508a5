//! `quantized_decomposed::mixed_mm`: `input @ (weight * scales)`, with a scale for each row of the weight.

use crate::prelude::*;
use crate::quantized::mixed::Factors;

/// `input` is `[n, k]`, `weight` `[k, m]` in 8 bits.
#[cfg(feature = "catalogue")]
pub const MIXED_MM: Operator = Operator {
    schema: "quantized_decomposed::mixed_mm.out(Tensor input, Tensor weight, Tensor weight_scales, \
             Tensor? weight_zero_points, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "quantized_decomposed::mixed_mm",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "rectangular",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::of(ScalarType::Char, &[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
                Tensor(CaseTensor::float(&[3], &[0.5, 1.0, 2.0])),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[2, 2], &[36.5, 45.0, 77.0, 96.0])],
        ),
        Case::refused(
            "a scale too few",
            &[
                Tensor(CaseTensor::float(&[1, 2], &[1.0, 2.0])),
                Tensor(CaseTensor::of(ScalarType::Char, &[2, 1], &[1.0, 2.0])),
                Tensor(CaseTensor::float(&[1], &[0.5])),
                CaseArgument::None,
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let Factors { input, weight, scales } = Factors::of(args)?;
    let fits = input.size(1) == weight.size(0) && scales.rank() == 1 && scales.size(0) == weight.size(0);
    if !fits {
        return Err(Error::InvalidArgument);
    }
    let shape = Shape::new(&[input.size(0) as i32, weight.size(1) as i32])?;
    Ok(Meta { scalar_type: input.scalar_type(), shape })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (factors, out, shape) = (Factors::of(args)?, args.tensor(4)?, infer(args, 0)?.shape);
    out.resize(&shape)?;
    let (strides, steps) = (factors.weight.strides(), out.strides());
    dispatch!(D, out.scalar_type(), floats, T => {
        let (from, to) = (factors.input.input::<T>()?, out.output::<T>()?);
        for row in 0..shape.size(0) {
            for column in 0..shape.size(1) {
                let weight_at = |index| index * strides[0] + column * strides[1];
                let sum = factors.product((from, row), weight_at, |index| index)?;
                to.set(row * steps[0] + column * steps[1], et_core::Float::narrow(sum));
            }
        }
        Ok(())
    })
}
