//! `quantized_decomposed::embedding_byte`: dequantized rows of an 8-bit weight. The scales are per row, or blockwise
//! with blocks of equal size.

use crate::prelude::*;
use crate::quantized::packed::{self, Packing};

/// With results of the type of the scales.
#[cfg(feature = "catalogue")]
pub const EMBEDDING_BYTE: Operator = Operator {
    schema: "quantized_decomposed::embedding_byte.out(Tensor weight, Tensor weight_scales, Tensor? weight_zero_points, \
             int weight_quant_min, int weight_quant_max, Tensor indices, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "quantized_decomposed::embedding_byte",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "rows with a zero point",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[2, 2], &[-128.0, 127.0, 3.0, -3.0])),
                Tensor(CaseTensor::of(ScalarType::Float, &[2], &[0.5, 2.0])),
                Tensor(CaseTensor::of(ScalarType::Float, &[2], &[1.0, -1.0])),
                Int(-128),
                Int(127),
                Tensor(CaseTensor::of(ScalarType::Long, &[1, 2], &[1.0, 0.0])),
            ],
            &[CaseTensor::of(ScalarType::Float, &[1, 2, 2], &[8.0, -4.0, -64.5, 63.0])],
        ),
        Case::exact(
            "parts of a row, in halves",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[2, 4], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])),
                Tensor(CaseTensor::of(ScalarType::Half, &[2, 2], &[0.5, 2.0, 0.25, 4.0])),
                CaseArgument::None,
                Int(-128),
                Int(127),
                Tensor(CaseTensor::of(ScalarType::Int, &[1], &[1.0])),
            ],
            &[CaseTensor::of(ScalarType::Half, &[1, 4], &[1.25, 1.5, 28.0, 32.0])],
        ),
        Case::refused(
            "an index out of range",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[1, 2], &[1.0, 2.0])),
                Tensor(CaseTensor::of(ScalarType::Float, &[1], &[0.5])),
                CaseArgument::None,
                Int(-128),
                Int(127),
                Tensor(CaseTensor::of(ScalarType::Long, &[1], &[1.0])),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// With results of a type that the caller chooses.
#[cfg(feature = "catalogue")]
pub const EMBEDDING_BYTE_DTYPE: Operator = Operator {
    schema: "quantized_decomposed::embedding_byte.dtype_out(Tensor weight, Tensor weight_scales, \
             Tensor? weight_zero_points, int weight_quant_min, int weight_quant_max, Tensor indices, \
             *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)",
    functional: "quantized_decomposed::embedding_byte.dtype",
    path: kernel_path!(dtype_out),
    dtypes: Dtypes::ALL,
    infer: infer_dtype,
    kernel: dtype_out::<ALL>,
    cases: &[Case::exact(
        "halves become floats",
        &[
            Tensor(CaseTensor::of(ScalarType::Char, &[1, 2], &[1.0, 2.0])),
            Tensor(CaseTensor::of(ScalarType::Half, &[1], &[0.5])),
            CaseArgument::None,
            Int(-128),
            Int(127),
            Tensor(CaseTensor::of(ScalarType::Long, &[1], &[0.0])),
            CaseArgument::Type(ScalarType::Float),
        ],
        &[CaseTensor::of(ScalarType::Float, &[1, 2], &[0.5, 1.0])],
    )],
};

struct Bits;

impl Packing for Bits {
    const COUNT: usize = 1;
    const RANGE: Option<[i64; 2]> = None;

    fn unpack(element: i64, _position: usize) -> i64 {
        element
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
