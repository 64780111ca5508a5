//! `quantized_decomposed::quantize_per_token`: `round(input / scale + zero_point)` within the range, with parameters for each
//! row of the last dimension.

use crate::family::affine::{self, Parameters, Range, Rounding};
use crate::family::block::Blocks;
use crate::prelude::*;

/// The operator.
#[cfg(feature = "catalogue")]
pub const QUANTIZE_PER_TOKEN: Operator = Operator {
    schema: "quantized_decomposed::quantize_per_token.out(Tensor input, Tensor scales, Tensor zero_points, int quant_min, \
             int quant_max, ScalarType dtype, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "quantized_decomposed::quantize_per_token",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "rows, rounded after the zero point is added",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[0.25, 0.75, -0.25, 10.0, -10.0, 100.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 1], &[0.5, 4.0])),
                Tensor(CaseTensor::long(&[2, 1], &[1.0, -10.0])),
                Int(-8),
                Int(7),
                CaseArgument::Type(ScalarType::Char),
            ],
            &[CaseTensor::of(ScalarType::Char, &[2, 3], &[2.0, 2.0, 0.0, -8.0, -8.0, 7.0])],
        ),
        Case::refused(
            "a scale too many",
            &[
                Tensor(CaseTensor::float(&[1, 2], &[0.25, 0.75])),
                Tensor(CaseTensor::float(&[2, 1], &[0.5, 4.0])),
                Tensor(CaseTensor::long(&[1, 1], &[1.0])),
                Int(-8),
                Int(7),
                CaseArgument::Type(ScalarType::Char),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let meta = affine::quantized(args, 5, 3)?;
    Parameters::of(args, 1, Blocks::rows(&meta.shape))?;
    Ok(meta)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, meta) = (args.tensor(0)?, args.tensor(6)?, infer(args, 0)?);
    out.resize(&meta.shape)?;
    let parameters = Parameters::of(args, 1, Blocks::rows(&meta.shape))?;
    let range = Range::of(args, 3, meta.scalar_type)?;
    affine::quantize::<D>(&input, &out, &parameters, (range, Rounding::Sum))
}
