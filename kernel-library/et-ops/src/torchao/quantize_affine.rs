//! `torchao::quantize_affine`: `round(input / scale) + zero_point` within the range, with parameters for each block.

use crate::family::affine::{self, Parameters, Range, Rounding};
use crate::family::block::Blocks;
use crate::prelude::*;

/// The operator.
#[cfg(feature = "catalogue")]
pub const QUANTIZE_AFFINE: Operator = Operator {
    schema: "torchao::quantize_affine.out(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, \
             ScalarType output_dtype, Scalar? quant_min=None, Scalar? quant_max=None, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "torchao::quantize_affine",
    path: kernel_path!(out),
    dtypes: Dtypes::ALL,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "rows in 8 bits",
            &[
                Tensor(CaseTensor::float(&[2, 3], &[0.25, 0.75, -0.25, 10.0, -10.0, 100.0])),
                Ints(&[1, 3]),
                Tensor(CaseTensor::float(&[2, 1], &[0.5, 0.125])),
                Tensor(CaseTensor::of(ScalarType::Char, &[2, 1], &[1.0, -10.0])),
                CaseArgument::Type(ScalarType::Char),
                Int(-128),
                Int(127),
            ],
            &[CaseTensor::of(ScalarType::Char, &[2, 3], &[1.0, 3.0, 1.0, 70.0, -90.0, 127.0])],
        ),
        Case::refused(
            "blocks that do not fit",
            &[
                Tensor(CaseTensor::float(&[3], &[0.0; 3])),
                Ints(&[2]),
                Tensor(CaseTensor::float(&[2], &[0.5, 0.125])),
                Tensor(CaseTensor::of(ScalarType::Char, &[2], &[1.0, -10.0])),
                CaseArgument::Type(ScalarType::Char),
                CaseArgument::None,
                CaseArgument::None,
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (input, scalar_type) = (affine::real(args)?, args.optional_scalar_type(4)?.ok_or(Error::InvalidArgument)?);
    Range::optional(args, 5, scalar_type)?;
    Parameters::of(args, 2, Blocks::of(&input.shape(), &args.ints(1)?)?)?;
    Ok(Meta { scalar_type, shape: input.shape() })
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let (input, out, meta) = (args.tensor(0)?, args.tensor(7)?, infer(args, 0)?);
    out.resize(&meta.shape)?;
    let parameters = Parameters::of(args, 2, Blocks::of(&meta.shape, &args.ints(1)?)?)?;
    let range = Range::optional(args, 5, meta.scalar_type)?;
    affine::quantize::<D>(&input, &out, &parameters, (range, Rounding::Quotient))
}
