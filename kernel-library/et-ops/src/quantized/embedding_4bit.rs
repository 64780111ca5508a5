//! `quantized_decomposed::embedding_4bit`: dequantized rows of an int4 weight, two integers per byte. The scales are
//! per row, or blockwise with blocks of equal size.

use crate::prelude::*;
use crate::quantized::packed::{self, Packing};

/// With results of the type of the scales.
#[cfg(feature = "catalogue")]
pub const EMBEDDING_4BIT: Operator = Operator {
    schema: "quantized_decomposed::embedding_4bit.out(Tensor weight, Tensor weight_scales, Tensor? weight_zero_points, \
             int weight_quant_min, int weight_quant_max, Tensor indices, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "quantized_decomposed::embedding_4bit",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "the upper half of a byte first",
            &[
                Tensor(CaseTensor::of(ScalarType::Byte, &[2, 2], &[15.0, 128.0, 25.0, 167.0])),
                Tensor(CaseTensor::of(ScalarType::Float, &[2, 2], &[0.5, 1.0, 2.0, 4.0])),
                CaseArgument::None,
                Int(-8),
                Int(7),
                Tensor(CaseTensor::of(ScalarType::Long, &[2], &[0.0, 1.0])),
            ],
            &[CaseTensor::of(ScalarType::Float, &[2, 4], &[-4.0, 3.5, 0.0, -8.0, -14.0, 2.0, 8.0, -4.0])],
        ),
        Case::refused(
            "another range",
            &[
                Tensor(CaseTensor::of(ScalarType::Byte, &[1, 1], &[0.0])),
                Tensor(CaseTensor::of(ScalarType::Float, &[1], &[0.5])),
                CaseArgument::None,
                Int(0),
                Int(15),
                Tensor(CaseTensor::of(ScalarType::Long, &[1], &[0.0])),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// With results of a type that the caller chooses.
#[cfg(feature = "catalogue")]
pub const EMBEDDING_4BIT_DTYPE: Operator = Operator {
    schema: "quantized_decomposed::embedding_4bit.dtype_out(Tensor weight, Tensor weight_scales, \
             Tensor? weight_zero_points, int weight_quant_min, int weight_quant_max, Tensor indices, \
             ScalarType? dtype=None, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "quantized_decomposed::embedding_4bit.dtype",
    path: kernel_path!(dtype_out),
    dtypes: Dtypes::ALL,
    infer: infer_dtype,
    kernel: dtype_out::<ALL>,
    cases: &[Case::exact(
        "halves become floats",
        &[
            Tensor(CaseTensor::of(ScalarType::Byte, &[1, 1], &[154.0])),
            Tensor(CaseTensor::of(ScalarType::Half, &[1], &[0.5])),
            Tensor(CaseTensor::of(ScalarType::Half, &[1], &[1.0])),
            Int(-8),
            Int(7),
            Tensor(CaseTensor::of(ScalarType::Long, &[1], &[0.0])),
            CaseArgument::Type(ScalarType::Float),
        ],
        &[CaseTensor::of(ScalarType::Float, &[1, 2], &[0.0, 0.5])],
    )],
};

struct Bits;

impl Packing for Bits {
    const COUNT: usize = 2;
    const RANGE: Option<[i64; 2]> = Some([-8, 7]);

    fn unpack(element: i64, position: usize) -> i64 {
        (element >> (4 - 4 * position) & 15) - 8
    }
}

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    packed::infer::<Bits>(args, false)
}

fn infer_dtype(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    packed::infer::<Bits>(args, true)
}

/// The portable kernel of `out` for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    packed::rows::<Bits, D>(args, 6)
}

/// The portable kernel of `dtype_out` for the types in `D`.
pub fn dtype_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    packed::rows::<Bits, D>(args, 7)
}
