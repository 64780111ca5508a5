//! `torchao::dequantize_affine`: `(input - zero_point) * scale`, with parameters for each block.

use crate::family::affine::{self, Difference, Parameters, Range};
use crate::family::block::Blocks;
use crate::prelude::*;

/// The operator.
#[cfg(feature = "catalogue")]
pub const DEQUANTIZE_AFFINE: Operator = Operator {
    schema: "torchao::dequantize_affine.out(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, \
             ScalarType input_dtype, Scalar? quant_min=None, Scalar? quant_max=None, ScalarType output_dtype=6, *, \
             Tensor(a!) out) -> Tensor(a!)",
    functional: "torchao::dequantize_affine",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "groups of two in each row",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[2, 4], &[-8.0, 7.0, 3.0, -3.0, 1.0, 2.0, 3.0, 4.0])),
                Ints(&[1, 2]),
                Tensor(CaseTensor::float(&[2, 2], &[0.5, 2.0, 0.25, 4.0])),
                Tensor(CaseTensor::of(ScalarType::Char, &[2, 2], &[0.0, 1.0, -1.0, 2.0])),
                CaseArgument::Type(ScalarType::Char),
                Int(-8),
                Int(7),
                CaseArgument::Type(ScalarType::Float),
            ],
            &[CaseTensor::float(&[2, 4], &[-4.0, 3.5, 4.0, -8.0, 0.5, 0.75, 4.0, 8.0])],
        ),
        Case::refused(
            "a block too many",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[2], &[0.0; 2])),
                Ints(&[1]),
                Tensor(CaseTensor::float(&[1], &[0.5])),
                CaseArgument::None,
                CaseArgument::Type(ScalarType::Char),
                CaseArgument::None,
                CaseArgument::None,
                CaseArgument::Type(ScalarType::Float),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let meta = affine::dequantized(args, 4, 7)?;
    Range::optional(args, 5, args.tensor(0)?.scalar_type())?;
    Parameters::of(args, 2, Blocks::of(&meta.shape, &args.ints(1)?)?)?;
    Ok(meta)
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, shape) = (args.tensor(0)?, args.tensor(8)?, infer(args, 0)?.shape);
    out.resize(&shape)?;
    let parameters = Parameters::of(args, 2, Blocks::of(&shape, &args.ints(1)?)?)?;
    affine::dequantize::<D>(&input, &out, &parameters, Difference::Float)
}
