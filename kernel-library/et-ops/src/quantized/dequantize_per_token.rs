//! `quantized_decomposed::dequantize_per_token`: `(input - zero_point) * scale`, with parameters for each row of the last
//! dimension.

use crate::family::affine::{self, Difference, Parameters};
use crate::family::block::Blocks;
use crate::prelude::*;

/// The operator.
#[cfg(feature = "catalogue")]
pub const DEQUANTIZE_PER_TOKEN: Operator = Operator {
    schema: "quantized_decomposed::dequantize_per_token.out(Tensor input, Tensor scales, Tensor zero_points, int quant_min, \
             int quant_max, ScalarType dtype, ScalarType output_dtype, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "quantized_decomposed::dequantize_per_token",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "rows",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[2, 2], &[-128.0, 127.0, 3.0, -3.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2, 1], &[0.5, 0.1])),
                Tensor(CaseTensor::long(&[2, 1], &[1.0, -1.0])),
                Int(-128),
                Int(127),
                CaseArgument::Type(ScalarType::Char),
                CaseArgument::Type(ScalarType::Float),
            ],
            &[CaseTensor::float(&[2, 2], &[-64.5, 63.0, 0.4000000059604645, -0.20000000298023224])],
        ),
        Case::refused(
            "a scale too many",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[2, 1], &[0.0, 1.0])),
                Tensor(CaseTensor::float(&[3, 1], &[0.5, 4.0, 1.0])),
                Tensor(CaseTensor::long(&[2, 1], &[1.0, 1.0])),
                Int(-8),
                Int(7),
                CaseArgument::Type(ScalarType::Char),
                CaseArgument::Type(ScalarType::Float),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let meta = affine::dequantized(args, 5, 6)?;
    Parameters::of(args, 1, Blocks::rows(&meta.shape))?;
    Ok(meta)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, shape) = (args.tensor(0)?, args.tensor(7)?, infer(args, 0)?.shape);
    out.resize(&shape)?;
    let parameters = Parameters::of(args, 1, Blocks::rows(&shape))?;
    affine::dequantize::<D>(&input, &out, &parameters, Difference::Integer)
}
