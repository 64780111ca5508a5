//! `aten::frexp`: numbers as mantissas from 0.5 to 1 and powers of two.

use crate::family::convert::{reading, writing};
use crate::family::place::Place;
use crate::family::unary;
use crate::family::walk::Walk;
use crate::prelude::*;

/// `torch.frexp`.
#[cfg(feature = "catalogue")]
pub const FREXP: Operator = Operator {
    schema: "aten::frexp.Tensor_out(Tensor self, *, Tensor(a!) mantissa, Tensor(b!) exponent) -> \
             (Tensor(a!) mantissa, Tensor(b!) exponent)",
    functional: "aten::frexp.Tensor",
    path: kernel_path!(tensor_out),
    dtypes: Dtypes::FLOATS,
    infer,
    kernel: tensor_out::<ALL>,
    cases: &[
        Case::exact(
            "numbers, zeros and infinity",
            &[Tensor(CaseTensor::float(&[6], &[1.0, -6.5, 0.0, 0.3125, f64::INFINITY, 1.401_298_464_324_817e-45]))],
            &[
                CaseTensor::float(&[6], &[0.5, -0.8125, 0.0, 0.625, f64::INFINITY, 0.5]),
                CaseTensor::of(ScalarType::Int, &[6], &[1.0, 3.0, 0.0, -1.0, 0.0, -148.0]),
            ],
        ),
        Case::exact(
            "doubles",
            &[Tensor(CaseTensor::of(ScalarType::Double, &[2], &[5e-324, 1e300]))],
            &[
                CaseTensor::of(ScalarType::Double, &[2], &[0.5, 0.746_610_894_802_575_1]),
                CaseTensor::of(ScalarType::Int, &[2], &[-1073.0, 997.0]),
            ],
        ),
    ],
};

fn infer(args: &Args<'_, '_>, index: usize) -> Result<Meta> {
    let mantissa = unary::like_first(args, 0)?;
    Ok(if index == 0 { mantissa } else { Meta { scalar_type: ScalarType::Int, ..mantissa } })
}

/// The portable kernel for the types in `D`; exponents are `int32` regardless of `D`.
pub fn tensor_out<const D: u32>(args: &Args<'_, '_>) -> Result<()> {
    let [input, mantissa, exponent] = [args.tensor(0)?, args.tensor(1)?, args.tensor(2)?];
    mantissa.settle(|| Ok(input.shape()))?;
    exponent.settle(|| Ok(input.shape()))?;
    let powers = exponent.output::<i32>()?;
    reading::<f64, D>(&input, &mut |load| {
        writing::<f64, D>(&mantissa, &mut |store| {
            let places = [Place::of(&input), Place::of(&mantissa), Place::of(&exponent)];
            Walk::over(&input.shape(), places)?.for_each(|[from_at, mantissa_at, exponent_at]| {
                let (part, power) = split(load(from_at));
                store(mantissa_at, part);
                powers.set(exponent_at, power);
            });
            Ok(())
        })
    })
}

/// Every element is a normal `f64` but for the least doubles, which are scaled first.
fn split(x: f64) -> (f64, i32) {
    const FIELD: u64 = 0x7ff;
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let (x, shift) = if x.is_normal() { (x, 0) } else { (x * 18_014_398_509_481_984.0, 54) };
    let bits = x.to_bits();
    let power = ((bits >> 52) & FIELD) as i32 - 1022;
    (f64::from_bits((bits & !(FIELD << 52)) | (1022 << 52)), power - shift)
}
