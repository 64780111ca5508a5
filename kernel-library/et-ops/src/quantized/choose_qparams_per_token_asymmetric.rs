//! `quantized_decomposed::choose_qparams_per_token_asymmetric`: for each row of the last dimension, a scale and a zero point
//! in 8 bits with signs.

use et_core::{Element, ScalarType as Type};

use crate::family::affine::{self, Range};
use crate::family::block::Blocks;
use crate::family::range::{self, Extent};
use crate::family::real::Real;
use crate::math::Math;
use crate::prelude::*;

/// The range of the quantized integers (int8), regardless of `dtype`.
const RANGE: Range = Range { lowest: -128, highest: 127 };

/// Per-token qparams: a `float64` scale and an `int64` zero point for each row.
#[cfg(feature = "catalogue")]
pub const CHOOSE_QPARAMS_PER_TOKEN_ASYMMETRIC: Operator = Operator {
    schema: "quantized_decomposed::choose_qparams_per_token_asymmetric.out(Tensor input, ScalarType dtype, *, \
             Tensor(a!) scale_out, Tensor(b!) zero_point_out) -> (Tensor(a!), Tensor(b!))",
    functional: "quantized_decomposed::choose_qparams_per_token_asymmetric",
    path: kernel_path!(out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: out::<ALL>,
    cases: &[Case::exact(
        "rows",
        &[Tensor(CaseTensor::float(&[3, 2], &[-1.0, 3.0, 0.0, 0.0, 1.5, 0.25])), CaseArgument::Type(ScalarType::Char)],
        &[
            CaseTensor::of(
                ScalarType::Double,
                &[3, 1],
                &[0.01568627543747425, 1.1920928955078125e-07, 0.0058823530562222],
            ),
            CaseTensor::long(&[3, 1], &[-64.0, 127.0, -128.0]),
        ],
    )],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let shape = *Blocks::rows(&affine::real(args)?.shape()).grid();
    Ok(Meta { scalar_type: if index == 0 { Type::Double } else { Type::Long }, shape })
}

/// The portable kernel for the dtypes in `D`; zero points are `int64` regardless of `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, scale_out, zero_point_out] = [args.tensor(0)?, args.tensor(2)?, args.tensor(3)?];
    let shape = infer(args, 0)?.shape;
    scale_out.resize(&shape)?;
    zero_point_out.resize(&shape)?;
    let (scales, zero_points) = (scale_out.output::<f64>()?, zero_point_out.output::<i64>()?);
    let blocks = Blocks::rows(&input.shape());
    let mut places = Blocks::each(&shape).walk([&scale_out, &zero_point_out])?;
    dispatch!(D, input.scalar_type(), floats, T => {
        range::extents::<T>(&input, &blocks, |extent| {
            let scale = range::scale(extent.width(), RANGE.steps(), f64::from(f32::EPSILON));
            let [scale_at, zero_at] = places.next().map_or([0; 2], |place| place.start());
            scales.set(scale_at, scale.to_f64());
            zero_points.set(zero_at, zero_point(extent, scale));
            Ok(())
        })
    })
}

/// The zero point that the end of the range with the greater rounding error gives.
fn zero_point<T: Real>(extent: Extent<T>, scale: T) -> i64 {
    let divided = |number: T| T::narrow(number.widen() / scale.widen()).widen();
    let (lowest, highest) = (divided(extent.lowest), divided(extent.highest));
    let [least, greatest] = [RANGE.lowest, RANGE.highest].map(<T::Wide as Element>::from_i64);
    let error = T::narrow(least + lowest).widen() + T::narrow(greatest + highest).widen();
    let zero_point = if error > <T::Wide as Number>::ZERO { least - lowest } else { greatest - highest };
    zero_point.round_ties_even().to_i64().clamp(RANGE.lowest, RANGE.highest)
}
