//! Operations of single elements.

use std::f64::consts::FRAC_1_SQRT_2;

use et_core::Half;
use et_ops::math::special::normal::erfc;
use et_qnn::build::DataType;
use etbuild_backend::Refusal;

use crate::program::{Parameter, width};

use super::fixed_point::{Product, Sum, WordSum};
use super::step::{Elements, Qparams, Step, malformed, qparams};

/// A function of an element, whose results are rounded once.
pub fn unary(step: &Step<'_>, function: fn(f64) -> f64) -> Result<Elements, Refusal> {
    Ok(step.rounded(step.numbers(0)?.into_iter().map(function)))
}

/// A sigmoid, whose results of 16 bits are even.
pub fn sigmoid(step: &Step<'_>) -> Result<Elements, Refusal> {
    let numbers = step.numbers(0)?.into_iter().map(|number| (1.0 + (-number).exp()).recip());
    match qparams(step.output()).filter(|_| width(step.output().data_type) == 2) {
        Some(Qparams { scale, zero }) => {
            Ok(step.saturated(numbers.map(|number| (number / (2.0 * scale)).floor() as i64 * 2 + zero)))
        }
        None => Ok(step.rounded(numbers)),
    }
}

/// Another encoding of the same elements, or the same elements in other sizes.
pub fn convert(step: &Step<'_>) -> Result<Elements, Refusal> {
    let (from, to) = (step.tensor(0)?, step.output());
    if (from.data_type, &from.quantization) == (to.data_type, &to.quantization) {
        return Ok((*step.elements(0)?).clone());
    }
    let numbers = step.numbers(0)?;
    match (&*step.elements(0)?, qparams(to)) {
        (Elements::Numbers(numbers), Some(qparams)) if width(to.data_type) == 1 => {
            Ok(quantized(step, numbers, qparams))
        }
        (Elements::Integers(integers), None) if (width(from.data_type), to.data_type) == (1, DataType::Float16) => {
            let Qparams { scale, zero } = qparams(from).ok_or_else(malformed)?;
            let scale = f64::from(Half::from_f32(scale as f32).to_f32());
            Ok(step.rounded(integers.iter().map(|integer| (i64::from(*integer) - zero) as f64 * scale)))
        }
        _ => Ok(step.rounded(numbers)),
    }
}

/// Numbers as integers of 8 bits: the number by the scale, rounded to fp16, then to an integer, halves away from zero.
fn quantized(step: &Step<'_>, numbers: &[f32], Qparams { scale, zero }: Qparams) -> Elements {
    let half = |number: f32| Half::from_f32(number).to_f32();
    step.saturated(numbers.iter().map(|number| half(*number / scale as f32).round() as i64 + zero))
}

/// A limit from both sides.
pub fn clamp(step: &Step<'_>) -> Result<Elements, Refusal> {
    let limit = |name: &str| match step.parameter(name) {
        Some(Parameter::Float32(limit)) => Ok(f64::from(*limit)),
        _ => Err(malformed()),
    };
    let (least, most) = (limit("min_value")?, limit("max_value")?);
    Ok(step.rounded(step.numbers(0)?.into_iter().map(|number| number.max(least).min(most))))
}

/// The functions of `ElementWiseNeuron` that lowering uses.
pub fn neuron(step: &Step<'_>) -> Result<Elements, Refusal> {
    let number = |name: &str| match step.parameter(name) {
        Some(Parameter::Float32(number)) => f64::from(*number),
        _ => 0.0,
    };
    let (alpha, beta) = (number("alpha"), number("beta"));
    let numbers = step.numbers(0)?.into_iter();
    match step.sizes("operation")[..] {
        [0] => Ok(step.rounded(numbers.map(|number| if number > 0.0 { number } else { alpha * number.exp_m1() }))),
        [1] => Ok(step.rounded(numbers.map(gelu))),
        [2] => Ok(step.rounded(numbers.map(|number| (alpha * number + beta).clamp(0.0, 1.0)))),
        _ => Err(malformed()),
    }
}

/// `x (1 + erf(x / sqrt(2))) / 2`.
fn gelu(number: f64) -> f64 {
    number * erfc(-number * FRAC_1_SQRT_2) / 2.0
}

/// A function of two elements, whose results are rounded once.
pub fn binary(step: &Step<'_>, function: fn(f64, f64) -> f64) -> Result<Elements, Refusal> {
    let operands = [step.numbers(0)?, step.numbers(1)?];
    let pairs = pairs(step)?;
    Ok(step.rounded(pairs.into_iter().map(|[left, right]| function(operands[0][left], operands[1][right]))))
}

/// A function of two elements, whose results in fp16 round halves away from zero.
fn away(step: &Step<'_>, function: fn(f64, f64) -> f64) -> Result<Elements, Refusal> {
    if step.output().data_type != DataType::Float16 {
        return binary(step, function);
    }
    let operands = [step.numbers(0)?, step.numbers(1)?];
    // The next number of float32 is no half of fp16 any more.
    let beyond = |number: f32| if number == 0.0 { number } else { f32::from_bits(number.to_bits() + 1) };
    let results = pairs(step)?.into_iter().map(|[left, right]| function(operands[0][left], operands[1][right]) as f32);
    Ok(step.rounded(results.map(|number| f64::from(beyond(number)))))
}

/// A sum, or a difference with the sign -1.
pub fn sum(step: &Step<'_>, sign: i64) -> Result<Elements, Refusal> {
    if let Some(([left, right], output)) = step.of_width(2) {
        let ratios = [left.scale / output.scale, right.scale / output.scale];
        let rule = WordSum::of(ratios, sign);
        let zeros = [left.zero, right.zero, output.zero];
        return of_integers(step, |left, right| rule.apply(left - zeros[0], right - zeros[1]) + zeros[2]);
    }
    let Some(([left, right], output)) = step.of_width(1) else {
        return if sign < 0 {
            away(step, |left, right| left - right)
        } else {
            binary(step, |left, right| left + right)
        };
    };
    let ratios = [left.scale / output.scale, right.scale / output.scale];
    let rule = Sum::of(ratios, [left.zero, right.zero, output.zero], sign);
    of_integers(step, |left, right| rule.apply(left, right))
}

/// A product.
pub fn product(step: &Step<'_>) -> Result<Elements, Refusal> {
    let Some(([left, right], output)) = step.of_width(1) else { return away(step, |left, right| left * right) };
    let rule = Product::of(left.scale * right.scale / output.scale);
    let zeros = [left.zero, right.zero, output.zero];
    of_integers(step, |left, right| rule.apply((left - zeros[0]) * (right - zeros[1])) + zeros[2])
}

fn of_integers(step: &Step<'_>, rule: impl Fn(i64, i64) -> i64) -> Result<Elements, Refusal> {
    let operands = [step.integers(0)?, step.integers(1)?];
    let results = pairs(step)?.into_iter();
    Ok(step.saturated(results.map(|[left, right]| rule(operands[0][left], operands[1][right]))))
}

/// The positions of the operands' elements for each element of the result: operands broadcast.
fn pairs(step: &Step<'_>) -> Result<Vec<[usize; 2]>, Refusal> {
    let sizes = step.output().dims();
    let operands = [&step.tensor(0)?.sizes, &step.tensor(1)?.sizes].map(|of| strides(of, &sizes));
    let [Some(left), Some(right)] = operands else { return Err(malformed()) };
    let mut pairs = vec![[0, 0]];
    for (axis, size) in sizes.iter().enumerate() {
        let next = |[first, second]: [usize; 2]| {
            let (left, right) = (left[axis], right[axis]);
            (0..*size).map(move |index| [first + index * left, second + index * right])
        };
        pairs = pairs.into_iter().flat_map(next).collect();
    }
    Ok(pairs)
}

/// The distances of an operand's elements along the axes of the result; `None` for sizes that do not broadcast.
fn strides(operand: &[u32], sizes: &[usize]) -> Option<Vec<usize>> {
    let mut strides = vec![0; sizes.len()];
    let mut distance = 1;
    for (back, size) in operand.iter().rev().map(|size| *size as usize).enumerate() {
        let axis = sizes.len().checked_sub(back + 1);
        match axis {
            Some(axis) if size == sizes[axis] => strides[axis] = distance,
            _ if size == 1 => {}
            _ => return None,
        }
        distance *= size;
    }
    Some(strides)
}
