//! `quantized_decomposed::quantize_per_tensor`: `round(input / scale) + zero_point` within the range, in `float32`.

use crate::family::affine::{self, Quantizer, Range, Rounding};
use crate::prelude::*;

/// With the scale and the zero point as numbers.
#[cfg(feature = "catalogue")]
pub const QUANTIZE_PER_TENSOR: Operator = Operator {
    schema: "quantized_decomposed::quantize_per_tensor.out(Tensor input, float scale, int zero_point, int quant_min, \
             int quant_max, ScalarType dtype, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "quantized_decomposed::quantize_per_tensor",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "halfway, beyond the range",
            &[
                Tensor(CaseTensor::float(&[2, 4], &[0.25, 0.75, -0.25, -0.75, 100.0, -100.0, 0.0, 1.1])),
                Double(0.5),
                Int(10),
                Int(-128),
                Int(127),
                CaseArgument::Type(ScalarType::Char),
            ],
            &[CaseTensor::of(ScalarType::Char, &[2, 4], &[10.0, 12.0, 10.0, 8.0, 127.0, -128.0, 10.0, 12.0])],
        ),
        Case::exact(
            "a narrow range of bytes",
            &[
                Tensor(CaseTensor::of(ScalarType::BFloat16, &[3], &[-1.0, 3.0, 20.0])),
                Double(0.3),
                Int(3),
                Int(0),
                Int(15),
                CaseArgument::Type(ScalarType::Byte),
            ],
            &[CaseTensor::of(ScalarType::Byte, &[3], &[0.0, 13.0, 15.0])],
        ),
        Case::exact(
            "infinity in 16 bits",
            &[
                Tensor(CaseTensor::float(&[2], &[f64::INFINITY, f64::NEG_INFINITY])),
                Double(1.0),
                Int(0),
                Int(-32768),
                Int(32767),
                CaseArgument::Type(ScalarType::Short),
            ],
            &[CaseTensor::of(ScalarType::Short, &[2], &[32767.0, -32768.0])],
        ),
        Case::refused(
            "a range that the type does not have",
            &[
                Tensor(CaseTensor::float(&[1], &[1.0])),
                Double(1.0),
                Int(0),
                Int(-128),
                Int(128),
                CaseArgument::Type(ScalarType::Char),
            ],
            Error::InvalidArgument,
        ),
        Case::refused(
            "integers",
            &[
                Tensor(CaseTensor::long(&[1], &[1.0])),
                Double(1.0),
                Int(0),
                Int(0),
                Int(1),
                CaseArgument::Type(ScalarType::Char),
            ],
            Error::InvalidType,
        ),
    ],
};

/// The overload with scale and zero point as single-element tensors.
#[cfg(feature = "catalogue")]
pub const QUANTIZE_PER_TENSOR_TENSOR: Operator = Operator {
    schema: "quantized_decomposed::quantize_per_tensor.Tensor_out(Tensor input, Tensor scale, Tensor zero_point, \
             int quant_min, int quant_max, ScalarType dtype, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "quantized_decomposed::quantize_per_tensor.tensor",
    path: kernel_path!(tensor_out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: tensor_out::<ALL>,
    cases: &[
        Case::exact(
            "parameters that were chosen",
            &[
                Tensor(CaseTensor::float(&[3], &[0.25, 0.75, -100.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[0.5])),
                Tensor(CaseTensor::long(&[1], &[-3.0])),
                Int(-128),
                Int(127),
                CaseArgument::Type(ScalarType::Char),
            ],
            &[CaseTensor::of(ScalarType::Char, &[3], &[-3.0, -1.0, -128.0])],
        ),
        Case::refused(
            "two scales",
            &[
                Tensor(CaseTensor::float(&[2], &[0.25, 0.75])),
                Tensor(CaseTensor::float(&[2], &[0.5, 0.5])),
                Tensor(CaseTensor::long(&[1], &[0.0])),
                Int(-128),
                Int(127),
                CaseArgument::Type(ScalarType::Char),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    affine::quantized(args, 5, 3)
}

/// The portable kernel of `out` for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    quantize::<D>(args, args.double(1)?, args.int(2)? as f32)
}

/// The portable kernel of `Tensor_out` for the types in `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (scale, zero_point) = (args.tensor(1)?, args.tensor(2)?);
    quantize::<D>(args, affine::single::<D>(&scale)?, affine::single::<D>(&zero_point)? as f32)
}

fn quantize<const D: u32>(args: &Args<'_, '_>, scale: f64, zero_point: f32) -> Result<()> {
    let (input, out, meta) = (args.tensor(0)?, args.tensor(6)?, infer(args, 0)?);
    out.resize(&meta.shape)?;
    let range = Range::of(args, 3, meta.scalar_type)?;
    let inverse = (1.0 / scale) as f32;
    affine::quantize_whole::<f32, D>(
        &input,
        &out,
        Quantizer { inverse, zero_point, range, rounding: Rounding::Quotient },
    )
}
