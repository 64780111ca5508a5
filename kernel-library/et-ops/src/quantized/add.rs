//! `quantized_decomposed::add`: the sum of two quantized tensors, quantized; computed in `float32`.

use crate::family::affine::{Dequantizer, Difference, Quantizer, Range, Rounding};
use crate::family::walk::Walk;
use crate::prelude::*;

/// `a` and `b` have the same shape and the same dtype of at most 32 bits; the result has both.
#[cfg(feature = "catalogue")]
pub const QUANTIZED_ADD: Operator = Operator {
    schema: "quantized_decomposed::add.out(Tensor a, float a_scale, int a_zero_point, int a_quant_min, int a_quant_max, \
             Tensor b, float b_scale, int b_zero_point, int b_quant_min, int b_quant_max, float out_scale, \
             int out_zero_point, int out_quant_min, int out_quant_max, *, Tensor(a!) out) -> Tensor(a!)",
    functional: "quantized_decomposed::add",
    path: kernel_path!(out),
    dtypes: Dtypes::of(&[ScalarType::Byte, ScalarType::Char, ScalarType::Short, ScalarType::Int]),
    infer,
    kernel: out::<ALL>,
    cases: &[
        Case::exact(
            "bytes",
            &[
                Tensor(CaseTensor::of(ScalarType::Byte, &[4], &[1.0, 2.0, 255.0, 0.0])),
                Double(0.5),
                Int(0),
                Int(0),
                Int(255),
                Tensor(CaseTensor::of(ScalarType::Byte, &[4], &[3.0, 4.0, 255.0, 0.0])),
                Double(0.25),
                Int(1),
                Int(0),
                Int(255),
                Double(0.5),
                Int(2),
                Int(0),
                Int(255),
            ],
            &[CaseTensor::of(ScalarType::Byte, &[4], &[4.0, 6.0, 255.0, 2.0])],
        ),
        Case::refused(
            "two types",
            &[
                Tensor(CaseTensor::of(ScalarType::Char, &[1], &[1.0])),
                Double(0.5),
                Int(0),
                Int(-128),
                Int(127),
                Tensor(CaseTensor::of(ScalarType::Byte, &[1], &[3.0])),
                Double(0.25),
                Int(1),
                Int(0),
                Int(255),
                Double(0.5),
                Int(-1),
                Int(-128),
                Int(127),
            ],
            Error::InvalidType,
        ),
    ],
};

fn infer(args: &Args<'_, '_>, _index: usize) -> Result<Meta> {
    let (left, right) = (args.tensor(0)?, args.tensor(5)?);
    if left.scalar_type() != right.scalar_type() {
        return Err(Error::InvalidType);
    }
    Range::of(args, 12, left.scalar_type())?;
    let same_shape = left.shape() == right.shape();
    let meta = Meta { scalar_type: left.scalar_type(), shape: left.shape() };
    if same_shape { Ok(meta) } else { Err(Error::InvalidArgument) }
}

/// The portable kernel for the types in `D`.
pub fn out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [left, right, out] = [args.tensor(0)?, args.tensor(5)?, args.tensor(14)?];
    let meta = infer(args, 0)?;
    out.resize(&meta.shape)?;
    let (from_left, from_right) = (dequantizer(args, 1)?, dequantizer(args, 6)?);
    let (inverse, zero_point) = ((1.0 / args.double(10)?) as f32, args.int(11)? as f32);
    let range = Range::of(args, 12, meta.scalar_type)?;
    let quantizer = Quantizer { inverse, zero_point, range, rounding: Rounding::Quotient };
    dispatch!(D, meta.scalar_type, integers, T => {
        let (lefts, rights, to) = (left.input::<T>()?, right.input::<T>()?, out.output::<T>()?);
        for [left_at, right_at, to_at] in Walk::new(&meta.shape, [&left, &right, &out])? {
            let real = |dequantizer: &Dequantizer<f32>, element: T| dequantizer.dequantize(et_core::Element::to_i64(element));
            let sum = real(&from_left, lefts.get(left_at)) + real(&from_right, rights.get(right_at));
            to.set(to_at, et_core::Element::from_i64(quantizer.quantize(sum)));
        }
        Ok(())
    })
}

/// The scale and the zero point in arguments `position` and the next.
fn dequantizer(args: &Args<'_, '_>, position: usize) -> Result<Dequantizer<f32>> {
    let (scale, zero_point) = (args.double(position)? as f32, args.int(position + 1)? as f64);
    Ok(Dequantizer { scale, zero_point, difference: Difference::Float })
}
