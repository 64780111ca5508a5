//! `quantized_decomposed::choose_qparams`: a scale and a zero point with which all elements and 0 can be quantized.

use crate::family::affine::{self, Range};
use crate::family::block::Blocks;
use crate::family::range;
use crate::prelude::*;

/// Per-tensor qparams: a `float64` scale and an `int64` zero point.
#[cfg(feature = "catalogue")]
pub const CHOOSE_QPARAMS: Operator = Operator {
    schema: "quantized_decomposed::choose_qparams.Tensor_out(Tensor input, int quant_min, int quant_max, float eps, \
             ScalarType dtype, *, Tensor(a!) scale_out, Tensor(b!) zero_point_out) -> (Tensor(a!), Tensor(b!))",
    functional: "quantized_decomposed::choose_qparams.tensor",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "both signs",
            &[
                Tensor(CaseTensor::float(&[2, 2], &[-1.0, 0.5, 3.0, 2.0])),
                Int(-128),
                Int(127),
                Double(0.000244140625),
                CaseArgument::Type(ScalarType::Char),
            ],
            &[CaseTensor::of(ScalarType::Double, &[1], &[0.01568627543747425]), CaseTensor::long(&[1], &[-64.0])],
        ),
        Case::exact(
            "positive numbers only, and the least scale",
            &[
                Tensor(CaseTensor::float(&[1], &[0.001])),
                Int(0),
                Int(255),
                Double(0.5),
                CaseArgument::Type(ScalarType::Byte),
            ],
            &[CaseTensor::of(ScalarType::Double, &[1], &[0.5]), CaseTensor::long(&[1], &[0.0])],
        ),
        Case::refused(
            "nothing",
            &[
                Tensor(CaseTensor::float(&[0], &[])),
                Int(0),
                Int(255),
                Double(0.5),
                CaseArgument::Type(ScalarType::Byte),
            ],
            Error::InvalidArgument,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let scalar_type = args.optional_scalar_type(4)?.ok_or(Error::InvalidArgument)?;
    Range::of(args, 1, scalar_type)?;
    if affine::real(args)?.numel() == 0 {
        return Err(Error::InvalidArgument);
    }
    let scalar_type = if index == 0 { ScalarType::Double } else { ScalarType::Long };
    Ok(Meta { scalar_type, shape: Shape::new(&[1])? })
}

/// The portable kernel for the dtypes in `D`; the zero point is `int64` regardless of `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, scale_out, zero_point_out] = [args.tensor(0)?, args.tensor(5)?, args.tensor(6)?];
    let shape = infer(args, 0)?.shape;
    scale_out.resize(&shape)?;
    zero_point_out.resize(&shape)?;
    let (range, least) = (Range { lowest: args.int(1)?, highest: args.int(2)? }, args.double(3)?);
    if range.lowest > range.highest {
        return Err(Error::InvalidArgument);
    }
    let (scales, zero_points) = (scale_out.output::<f64>()?, zero_point_out.output::<i64>()?);
    dispatch!(D, input.scalar_type(), floats, T => {
        range::extents::<T>(&input, &Blocks::whole(&input.shape()), |extent| {
            let scale = range::scale(extent.width(), range.steps(), least);
            scales.set(0, et_core::Element::to_f64(scale));
            zero_points.set(0, extent.zero_point(range, scale));
            Ok(())
        })
    })
}
