//! `torchao::choose_qparams_affine`: chooses the scale and zero point of each block from its elements and 0.

use et_core::Element;

use crate::family::affine::{self, Range};
use crate::family::block::Blocks;
use crate::family::convert::writing;
use crate::family::range::{self, Extent};
use crate::family::real::Real;
use crate::prelude::*;

/// Blockwise qparams: a scale and a zero point for each block. Dimensions with a single block are removed unless
/// `keepdim` is true.
#[cfg(feature = "catalogue")]
pub const CHOOSE_QPARAMS_AFFINE: Operator = Operator {
    schema: "torchao::choose_qparams_affine.out(Tensor? input, str mapping_type, SymInt[] block_size, \
             ScalarType target_dtype, Scalar? quant_min=None, Scalar? quant_max=None, float? eps=None, \
             ScalarType? scale_dtype=None, ScalarType? zero_point_dtype=None, bool keepdim=False, *, \
             Tensor(a!) scale_out, Tensor(b!) zero_point_out) -> (Tensor(a!), Tensor(b!))",
    functional: "torchao::choose_qparams_affine",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "rows",
            &[
                Tensor(CaseTensor::float(&[2, 2], &[-1.0, 3.0, 0.5, 0.25])),
                Text("ASYMMETRIC"),
                Ints(&[1, 2]),
                CaseArgument::Type(ScalarType::Char),
                Int(-128),
                Int(127),
                CaseArgument::None,
                CaseArgument::None,
                CaseArgument::Type(ScalarType::Char),
                Bool(false),
            ],
            &[
                CaseTensor::float(&[2], &[0.01568627543747425, 0.001960784429684281]),
                CaseTensor::of(ScalarType::Char, &[2], &[-64.0, -128.0]),
            ],
        ),
        Case::exact(
            "symmetric groups",
            &[
                Tensor(CaseTensor::float(&[1, 4], &[-1.0, 3.0, 0.5, 0.25])),
                Text("SYMMETRIC"),
                Ints(&[1, 2]),
                CaseArgument::Type(ScalarType::Char),
                Int(-8),
                Int(7),
                Double(0.25),
                CaseArgument::None,
                CaseArgument::Type(ScalarType::Long),
                Bool(true),
            ],
            &[CaseTensor::float(&[1, 2], &[0.4000000059604645, 0.25]), CaseTensor::long(&[1, 2], &[0.0, 0.0])],
        ),
        Case::exact(
            "symmetric without clipping",
            &[
                Tensor(CaseTensor::float(&[2], &[-4.0, 2.0])),
                Text("SYMMETRIC_NO_CLIPPING_ERR"),
                Ints(&[2]),
                CaseArgument::Type(ScalarType::Char),
                Int(-8),
                Int(7),
                CaseArgument::None,
                CaseArgument::None,
                CaseArgument::Type(ScalarType::Int),
                Bool(true),
            ],
            &[CaseTensor::float(&[1], &[0.5]), CaseTensor::of(ScalarType::Int, &[1], &[0.0])],
        ),
        Case::refused(
            "an unknown mapping",
            &[
                Tensor(CaseTensor::float(&[2], &[-4.0, 2.0])),
                Text("SOMEHOW"),
                Ints(&[2]),
                CaseArgument::Type(ScalarType::Char),
                Int(-8),
                Int(7),
                CaseArgument::None,
                CaseArgument::None,
                CaseArgument::Type(ScalarType::Int),
                Bool(true),
            ],
            Error::InvalidArgument,
        ),
    ],
};

/// The position of 0 in the quantized range.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mapping {
    /// At the position of 0 in the range of the block's elements.
    Asymmetric,
    /// In the middle; the greatest magnitude is mapped to the greatest integer.
    Symmetric,
    /// In the middle; neither the minimum nor the maximum is clipped.
    SymmetricUnclipped,
}

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let (input, mapping) = (affine::real(args)?, mapping(args)?);
    let target = args.optional_scalar_type(3)?.ok_or(Error::InvalidArgument)?;
    Range::optional(args, 4, target)?;
    let scale_type = args.optional_scalar_type(7)?.unwrap_or(input.scalar_type());
    let integer = if mapping == Mapping::Asymmetric { ScalarType::Int } else { input.scalar_type() };
    let zero_point_type = args.optional_scalar_type(8)?.unwrap_or(integer);
    let blocks = Blocks::of(&input.shape(), &args.ints(2)?)?;
    Ok(Meta { scalar_type: if index == 0 { scale_type } else { zero_point_type }, shape: shape(args, &blocks)? })
}

fn mapping(args: &Args<'_, '_>) -> Result<Mapping> {
    match args.optional_string(1)? {
        Some("ASYMMETRIC") => Ok(Mapping::Asymmetric),
        Some("SYMMETRIC") => Ok(Mapping::Symmetric),
        Some("SYMMETRIC_NO_CLIPPING_ERR") => Ok(Mapping::SymmetricUnclipped),
        _ => Err(Error::InvalidArgument),
    }
}

fn shape(args: &Args<'_, '_>, blocks: &Blocks) -> Result<Shape> {
    let keep = args.bool(9)?;
    let mut shape = Shape::SCALAR;
    for (count, size) in blocks.grid().sizes().iter().zip(blocks.block().sizes()) {
        if keep || *count != 1 || *size == 1 {
            shape.push(*count)?;
        }
    }
    Ok(shape)
}

/// The portable kernel for the dtypes in `D`; the caller chooses the dtype of the zero point regardless of `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, scale_out, zero_point_out] = [args.tensor(0)?, args.tensor(10)?, args.tensor(11)?];
    let shape = infer(args, 0)?.shape;
    scale_out.resize(&shape)?;
    zero_point_out.resize(&shape)?;
    let target = args.optional_scalar_type(3)?.ok_or(Error::InvalidArgument)?;
    let (range, mapping) = (Range::optional(args, 4, target)?, mapping(args)?);
    let blocks = Blocks::of(&input.shape(), &args.ints(2)?)?;
    writing::<f64, ALL>(&scale_out, &mut |store_scale| {
        writing::<i64, ALL>(&zero_point_out, &mut |store_zero_point| {
            let mut places = Blocks::each(&shape).walk([&scale_out, &zero_point_out])?;
            dispatch!(D, input.scalar_type(), floats, T => {
                let least = args.optional_scalar(6)?.map_or(smallest_normal(T::TYPE), et_core::Scalar::to_f64);
                range::extents::<T>(&input, &blocks, |extent| {
                    let scale = scale(extent, range, mapping, least);
                    let [scale_at, zero_at] = places.next().map_or([0; 2], |place| place.start());
                    store_scale(scale_at, scale.to_f64());
                    store_zero_point(zero_at, zero_point(extent, range, mapping, scale));
                    Ok(())
                })
            })
        })
    })
}

fn scale<T: Real>(extent: Extent<T>, range: Range, mapping: Mapping, least: f64) -> T {
    match mapping {
        Mapping::Asymmetric => range::scale(extent.width(), range.steps(), least),
        Mapping::Symmetric => range::scale(extent.magnitude(), range.steps() / 2.0, least),
        Mapping::SymmetricUnclipped => {
            let below = range::scale(extent.lowest, range.lowest as f64, least);
            let above = range::scale(extent.highest, range.highest as f64, least);
            if below > above { below } else { above }
        }
    }
}

fn zero_point<T: Real>(extent: Extent<T>, range: Range, mapping: Mapping, scale: T) -> i64 {
    match mapping {
        Mapping::Asymmetric => extent.zero_point(range, scale),
        // Python's `int` of the half, which is rounded towards 0.
        Mapping::Symmetric | Mapping::SymmetricUnclipped => (range.lowest + range.highest + 1) / 2,
    }
}

/// The least positive normal number.
const fn smallest_normal(scalar_type: ScalarType) -> f64 {
    match scalar_type {
        ScalarType::Half => 6.103515625e-05,
        ScalarType::Double => f64::MIN_POSITIVE,
        _ => f32::MIN_POSITIVE as f64,
    }
}
