//! `quantized_decomposed::quantize_per_channel`: as `quantize_per_tensor`, with parameters for each position along `axis`.

use crate::family::affine::{self, Parameters, Range, Rounding};
use crate::prelude::*;

/// The operator.
#[cfg(feature = "catalogue")]
pub const QUANTIZE_PER_CHANNEL: Operator = Operator {
    schema: "quantized_decomposed::quantize_per_channel.out(Tensor input, Tensor scales, Tensor zero_points, int axis, \
             int quant_min, int quant_max, ScalarType dtype, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "quantized_decomposed::quantize_per_channel",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "rows",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[0.25, 0.75, -0.25, 10.0, -10.0, 100.0])),
                Tensor(CaseTensor::float(&[2], &[0.5, 4.0])),
                Tensor(CaseTensor::long(&[2], &[0.0, 10.0])),
                Int(0),
                Int(-8),
                Int(7),
                CaseArgument::Type(ScalarType::Char),
            ],
            &[CaseTensor::of(ScalarType::Char, &[2, 3], &[0.0, 2.0, 0.0, 7.0, 7.0, 7.0])],
        ),
        Case::exact(
            "columns with scales in double precision",
            &[
                Tensor(CaseTensor::float(&[2, 2], &[0.3, 0.9, -0.3, -0.9])),
                Tensor(CaseTensor::of(ScalarType::Double, &[2], &[0.1, 0.3])),
                Tensor(CaseTensor::of(ScalarType::Int, &[2], &[1.0, -1.0])),
                Int(1),
                Int(-128),
                Int(127),
                CaseArgument::Type(ScalarType::Char),
            ],
            &[CaseTensor::of(ScalarType::Char, &[2, 2], &[4.0, 2.0, -2.0, -4.0])],
        ),
        Case::refused(
            "a scale too few",
            &[
                Tensor(CaseTensor::float(&[2], &[0.3, 0.9])),
                Tensor(CaseTensor::float(&[1], &[0.1])),
                Tensor(CaseTensor::long(&[2], &[1.0, -1.0])),
                Int(0),
                Int(-128),
                Int(127),
                CaseArgument::Type(ScalarType::Char),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let meta = affine::quantized(args, 6, 4)?;
    Parameters::of(args, 1, affine::channels(args, 3, &meta.shape)?)?;
    Ok(meta)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, meta) = (args.tensor(0)?, args.tensor(7)?, infer(args, 0)?);
    out.resize(&meta.shape)?;
    let parameters = Parameters::of(args, 1, affine::channels(args, 3, &meta.shape)?)?;
    let range = Range::of(args, 4, meta.scalar_type)?;
    affine::quantize::<D>(&input, &out, &parameters, (range, Rounding::Quotient))
}
