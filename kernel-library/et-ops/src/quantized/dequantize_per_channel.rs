//! `quantized_decomposed::dequantize_per_channel`: as `dequantize_per_tensor`, with parameters for each position along `axis`.

use crate::family::affine::{self, Difference, Parameters};
use crate::prelude::*;

/// The operator.
#[cfg(feature = "catalogue")]
pub const DEQUANTIZE_PER_CHANNEL: Operator = Operator {
    schema: "quantized_decomposed::dequantize_per_channel.out(Tensor input, Tensor scales, Tensor? zero_points, int axis, \
             int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None, Tensor(a!) out) -> Tensor(a!)",
    functional: "quantized_decomposed::dequantize_per_channel",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "rows",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[2, 2], &[-128.0, 127.0, 3.0, -3.0])),
                Tensor(CaseTensor::float(&[2], &[0.5, 2.0])),
                Tensor(CaseTensor::long(&[2], &[1.0, -1.0])),
                Int(0),
                Int(-128),
                Int(127),
                CaseArgument::Type(ScalarType::Char),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[2, 2], &[-64.5, 63.0, 8.0, -4.0])],
        ),
        Case::exact(
            "columns without zero points",
            &[
                Tensor(CaseTensor::of(ScalarType::Byte, &[1, 2, 1], &[200.0, 100.0])),
                Tensor(CaseTensor::float(&[2], &[0.5, 2.0])),
                CaseArgument::None,
                Int(-2),
                Int(0),
                Int(255),
                CaseArgument::Type(ScalarType::Byte),
                CaseArgument::Type(ScalarType::Half),
            ],
            &[CaseTensor::of(ScalarType::Half, &[1, 2, 1], &[100.0, 200.0])],
        ),
        Case::exact(
            "zero points with fractions",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[2, 1], &[1.0, 2.0])),
                Tensor(CaseTensor::float(&[2], &[0.5, 2.0])),
                Tensor(CaseTensor::float(&[2], &[0.25, -0.5])),
                Int(0),
                Int(-128),
                Int(127),
                CaseArgument::Type(ScalarType::Char),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[2, 1], &[0.375, 5.0])],
        ),
        Case::refused(
            "beyond the last dimension",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[1], &[1.0])),
                Tensor(CaseTensor::float(&[1], &[0.5])),
                CaseArgument::None,
                Int(1),
                Int(-128),
                Int(127),
                CaseArgument::Type(ScalarType::Char),
                CaseArgument::None,
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let meta = affine::dequantized(args, 6, 7)?;
    Parameters::of(args, 1, affine::channels(args, 3, &meta.shape)?)?;
    Ok(meta)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, shape) = (args.tensor(0)?, args.tensor(8)?, infer(args, 0)?.shape);
    out.resize(&shape)?;
    let parameters = Parameters::of(args, 1, affine::channels(args, 3, &shape)?)?;
    affine::dequantize::<D>(&input, &out, &parameters, Difference::Integer)
}
