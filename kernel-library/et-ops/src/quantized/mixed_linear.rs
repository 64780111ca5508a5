//! `quantized_decomposed::mixed_linear`: `input @ (weight * scales).T`, with a scale for each row of the weight or for each of
//! a row's equal parts.

use et_core::Element;

use crate::prelude::*;
use crate::quantized::mixed::Factors;

/// `input` is `[n, k]`, `weight` `[m, k]` in 8 bits, `weight_scales` `[m]` or `[m, g]`.
#[cfg(feature = "catalogue")]
pub const MIXED_LINEAR: Operator = Operator {
    schema: "quantized_decomposed::mixed_linear.out(Tensor input, Tensor weight, Tensor weight_scales, \
             Tensor? weight_zero_points, ScalarType? dtype=None, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "quantized_decomposed::mixed_linear",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "a scale for each row",
            &[
                Tensor(CaseTensor::float(&[2, 4], &[1.0, 2.0, 3.0, 1.0, 4.0, 5.0, 6.0, 1.0])),
                Tensor(CaseTensor::of(ScalarType::Char, &[2, 4], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])),
                Tensor(CaseTensor::float(&[2], &[0.5, 1.0])),
                CaseArgument::None,
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[2, 2], &[9.0, 46.0, 18.0, 100.0])],
        ),
        Case::exact(
            "two scales for each row, from halves to floats",
            &[
                Tensor(CaseTensor::of(ScalarType::Half, &[2, 4], &[1.0, 2.0, 3.0, 1.0, 4.0, 5.0, 6.0, 1.0])),
                Tensor(CaseTensor::of(ScalarType::Char, &[2, 4], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])),
                Tensor(CaseTensor::of(ScalarType::Half, &[2, 2], &[0.5, 1.0, 2.0, 3.0])),
                CaseArgument::None,
                CaseArgument::Type(ScalarType::Float),
            ],
            &[CaseTensor::float(&[2, 2], &[15.5, 121.0, 29.0, 250.0])],
        ),
        Case::refused(
            "weights of another width",
            &[
                Tensor(CaseTensor::float(&[1, 2], &[1.0, 2.0])),
                Tensor(CaseTensor::of(ScalarType::Char, &[1, 1], &[1.0])),
                Tensor(CaseTensor::float(&[1], &[0.5])),
                CaseArgument::None,
                CaseArgument::None,
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let Factors { input, weight, scales } = Factors::of(args)?;
    let parts = parts(&scales);
    let fits = input.size(1) == weight.size(1) && (1..=2).contains(&scales.rank()) && scales.size(0) == weight.size(0);
    if !fits || parts == 0 || weight.size(1) % parts != 0 {
        return Err(Error::InvalidArgument);
    }
    let scalar_type = args.optional_scalar_type(4)?.unwrap_or(input.scalar_type());
    let shape = Shape::new(&[input.size(0) as i32, weight.size(0) as i32])?;
    if scalar_type.is_float() { Ok(Meta { scalar_type, shape }) } else { Err(Error::InvalidType) }
}

/// The parts of a row that have a scale of their own.
fn parts(scales: &et_core::Tensor<'_>) -> usize {
    if scales.rank() == 2 { scales.size(1) } else { 1 }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (factors, out, shape) = (Factors::of(args)?, args.tensor(5)?, infer(args, 0)?.shape);
    out.resize(&shape)?;
    let (strides, scale_strides, steps) = (factors.weight.strides(), factors.scales.strides(), out.strides());
    let part = (factors.weight.size(1) / parts(&factors.scales)).max(1);
    dispatch!(D, factors.input.scalar_type(), floats, T => {
        let from = factors.input.input::<T>()?;
        crate::family::convert::writing::<f64, D>(&out, &mut |store| {
            for row in 0..shape.size(0) {
                for column in 0..shape.size(1) {
                    let weight_at = |index| column * strides[0] + index * strides[1];
                    let scale_at = |index| column * scale_strides[0] + index / part * scale_strides[1];
                    let sum = factors.product((from, row), weight_at, scale_at)?;
                    store(row * steps[0] + column * steps[1], sum.to_f64());
                }
            }
            Ok(())
        })
    })
}
