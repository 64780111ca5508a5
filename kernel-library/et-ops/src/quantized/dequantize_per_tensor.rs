//! `quantized_decomposed::dequantize_per_tensor`: `(input - zero_point) * scale`.

use crate::family::affine::{self, Dequantizer, Difference};
use crate::prelude::*;

/// With the scale and the zero point as numbers.
#[cfg(feature = "catalogue")]
pub const DEQUANTIZE_PER_TENSOR: Operator = Operator {
    schema: "quantized_decomposed::dequantize_per_tensor.out(Tensor input, float scale, int zero_point, int quant_min, \
             int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None, Tensor(a!) out) -> Tensor(a!)",
    functional: "quantized_decomposed::dequantize_per_tensor",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "bytes",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[2, 2], &[-128.0, 127.0, 10.0, 11.0])),
                Double(0.1),
                Int(10),
                Int(-128),
                Int(127),
                CaseArgument::Type(ScalarType::Char),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[2, 2], &[-13.800000190734863, 11.699999809265137, 0.0, 0.10000000149011612])],
        ),
        Case::exact(
            "to halves",
            &[
                Tensor(CaseTensor::of(ScalarType::Byte, &[2], &[0.0, 255.0])),
                Double(0.25),
                Int(1),
                Int(0),
                Int(255),
                CaseArgument::Type(ScalarType::Byte),
                CaseArgument::Type(ScalarType::Half),
            ],
            &[CaseTensor::of(ScalarType::Half, &[2], &[-0.25, 63.5])],
        ),
        Case::refused(
            "another type than said",
            &[
                Tensor(CaseTensor::of(ScalarType::Byte, &[1], &[0.0])),
                Double(0.25),
                Int(1),
                Int(-128),
                Int(127),
                CaseArgument::Type(ScalarType::Char),
                CaseArgument::None,
            ],
            Error::InvalidType,
        ),
    ],
};

/// The overload with scale and zero point as single-element tensors.
#[cfg(feature = "catalogue")]
pub const DEQUANTIZE_PER_TENSOR_TENSOR: Operator = Operator {
    schema: "quantized_decomposed::dequantize_per_tensor.Tensor_out(Tensor input, Tensor scale, Tensor zero_point, \
             int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None, Tensor(a!) out) -> Tensor(a!)",
    functional: "quantized_decomposed::dequantize_per_tensor.tensor",
    path: kernel_path!(tensor_out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: tensor_out::<ALL>,
    cases: &[
        Case::exact(
            "16 bits",
            &[
                Tensor(CaseTensor::of(ScalarType::Short, &[2], &[-32768.0, 5.0])),
                Tensor(CaseTensor::of(ScalarType::Double, &[1], &[0.5])),
                Tensor(CaseTensor::long(&[1], &[-3.0])),
                Int(-32768),
                Int(32767),
                CaseArgument::Type(ScalarType::Short),
                CaseArgument::None,
            ],
            &[CaseTensor::float(&[2], &[-16382.5, 4.0])],
        ),
        Case::refused(
            "two zero points",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[1], &[0.0])),
                Tensor(CaseTensor::float(&[1], &[0.5])),
                Tensor(CaseTensor::long(&[2], &[0.0, 0.0])),
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
    affine::dequantized(args, 5, 6)
}

/// The portable kernel of `out` for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    dequantize::<D>(args, args.double(1)?, args.int(2)? as f64)
}

/// The portable kernel of `Tensor_out` for the types in `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (scale, zero_point) = (args.tensor(1)?, args.tensor(2)?);
    dequantize::<D>(args, affine::single::<D>(&scale)?, affine::single::<D>(&zero_point)?)
}

fn dequantize<const D: u32>(args: &Args<'_, '_>, scale: f64, zero_point: f64) -> Result<()> {
    let (input, out) = (args.tensor(0)?, args.tensor(7)?);
    out.settle(|| Ok(infer(args, 0)?.shape))?;
    let difference = Difference::Float;
    if const { Dtypes(D).contains(ScalarType::Double) } && out.scalar_type() == ScalarType::Double {
        return affine::dequantize_whole::<f64, D>(&input, &out, Dequantizer { scale, zero_point, difference });
    }
    let scale = scale as f32;
    affine::dequantize_whole::<f32, D>(&input, &out, Dequantizer { scale, zero_point, difference })
}
