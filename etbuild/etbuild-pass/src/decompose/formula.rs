//! Formulas of two or three tensors.

use etbuild_ir::{Argument, ValueId};

use super::complex;
use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// The first two operands in the type of the result.
pub fn operands(editor: &mut Editor, call: &Call) -> Result<[ValueId; 2], Reason> {
    let scalar_type = call.output()?.scalar_type;
    Ok([editor.convert(call.value(0)?, scalar_type)?, editor.convert(call.value(1)?, scalar_type)?])
}

/// `hypot(self, other)`: the larger times `sqrt(1 + ratio^2)`, which does not overflow.
pub fn hypotenuse(editor: &mut Editor, call: &Call) -> Rewritten {
    let (pair, output) = (operands(editor, call)?, call.output()?);
    let left = editor.apply("abs", pair[0])?;
    let right = editor.apply("abs", pair[1])?;
    let sizes = [left, right].map(Argument::Value);
    let longer = editor.call("maximum.default", sizes.to_vec(), output.clone())?;
    let shorter = editor.call("minimum.default", sizes.to_vec(), output.clone())?;
    let ratio = editor.pair("div", shorter, longer)?;
    let square = editor.pair("mul", ratio, ratio)?;
    let square = editor.plus(square, 1.0)?;
    let root = editor.apply("sqrt", square)?;
    let length = editor.pair("mul", longer, root)?;
    let zero = editor.compare("eq.Scalar", shorter, Argument::Int(0))?;
    let length = editor.choose(zero, longer, length, output.clone())?;
    // Infinite if any operand is, even beside NaN.
    let limit = || Argument::Float(f64::INFINITY);
    let infinite = [editor.compare("eq.Scalar", left, limit())?, editor.compare("eq.Scalar", right, limit())?];
    let infinite = editor.combine("logical_or.default", infinite)?;
    let infinity = editor.number(limit(), output.scalar_type)?;
    Ok(vec![editor.choose(infinite, infinity, length, output)?])
}

/// `logaddexp(self, other)`: `max + log(1 + exp(-|difference|))`.
pub fn log_of_sum(editor: &mut Editor, call: &Call) -> Rewritten {
    let (larger, negated) = larger_and_distance(editor, call)?;
    let exponential = editor.apply("exp", negated)?;
    let rest = editor.apply("log1p", exponential)?;
    Ok(vec![editor.pair("add", larger, rest)?])
}

/// `logaddexp2(self, other)`: `max + log2(1 + 2^-|difference|)`.
pub fn log2_of_sum(editor: &mut Editor, call: &Call) -> Rewritten {
    let (larger, negated) = larger_and_distance(editor, call)?;
    let power = power_of_two(editor, negated)?;
    let sum = editor.plus(power, 1.0)?;
    let rest = editor.apply("log2", sum)?;
    Ok(vec![editor.pair("add", larger, rest)?])
}

/// `max(self, other)` and `-|self - other|`, which is 0 for equal infinities.
fn larger_and_distance(editor: &mut Editor, call: &Call) -> Result<(ValueId, ValueId), Reason> {
    let ([left, right], output) = (operands(editor, call)?, call.output()?);
    let larger = editor.call("maximum.default", [left, right].map(Argument::Value).to_vec(), output.clone())?;
    let difference = editor.pair("sub", left, right)?;
    let difference = editor.apply("abs", difference)?;
    let equal = editor.compare("eq.Tensor", left, Argument::Value(right))?;
    let zero = editor.number(Argument::Int(0), output.scalar_type)?;
    let difference = editor.choose(equal, zero, difference, output)?;
    Ok((larger, editor.apply("neg", difference)?))
}

/// `exp2(self)`.
pub fn exp2(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = editor.convert(call.value(0)?, call.output()?.scalar_type)?;
    Ok(vec![power_of_two(editor, input)?])
}

/// `ldexp(self, other)`: `self * 2^other`.
pub fn scale_by_power(editor: &mut Editor, call: &Call) -> Rewritten {
    let [mantissa, exponent] = operands(editor, call)?;
    let power = power_of_two(editor, exponent)?;
    Ok(vec![editor.pair("mul", mantissa, power)?])
}

fn power_of_two(editor: &mut Editor, exponent: ValueId) -> Result<ValueId, Reason> {
    let output = editor.spec(exponent).clone();
    let two = editor.number(Argument::Int(2), output.scalar_type)?;
    editor.call("pow.Tensor_Tensor", [two, exponent].map(Argument::Value).to_vec(), output)
}

/// `float_power(self, exponent)` of tensors: computed in float64.
pub fn power_in_double(editor: &mut Editor, call: &Call) -> Rewritten {
    let pair = operands(editor, call)?;
    Ok(vec![editor.call("pow.Tensor_Tensor", pair.map(Argument::Value).to_vec(), call.output()?)?])
}

/// `heaviside(self, values)`: `values` at 0, 1 above 0, else 0.
pub fn heaviside(editor: &mut Editor, call: &Call) -> Rewritten {
    let ([input, values], output) = (operands(editor, call)?, call.output()?);
    let above = editor.compare("gt.Scalar", input, Argument::Int(0))?;
    let step = editor.convert(above, output.scalar_type)?;
    let zero = editor.compare("eq.Scalar", input, Argument::Int(0))?;
    Ok(vec![editor.choose(zero, values, step, output)?])
}

/// `angle(self)`: of real numbers pi below 0, else 0; NaN stays.
pub fn angle(editor: &mut Editor, call: &Call) -> Rewritten {
    let (given, output) = (call.value(0)?, call.output()?);
    if editor.spec(given).scalar_type.is_complex() {
        return complex::angle(editor, given);
    }
    let input = editor.convert(given, output.scalar_type)?;
    let below = editor.compare("lt.Scalar", input, Argument::Int(0))?;
    let half_turn = editor.number(Argument::Float(std::f64::consts::PI), output.scalar_type)?;
    let zero = editor.number(Argument::Int(0), output.scalar_type)?;
    let angle = editor.choose(below, half_turn, zero, output.clone())?;
    let undefined = editor.test("isnan", input)?;
    Ok(vec![editor.choose(undefined, input, angle, output)?])
}

/// `xlogy(self, other)`: `self * log(other)`; 0 where `self` is 0 and `other` is not NaN.
pub fn times_log(editor: &mut Editor, call: &Call) -> Rewritten {
    times_logarithm(editor, call, "log")
}

/// `special_xlog1py(self, other)`: `self * log1p(other)`; 0 where `self` is 0 and `other` is not NaN.
pub fn times_log_of_next(editor: &mut Editor, call: &Call) -> Rewritten {
    times_logarithm(editor, call, "log1p")
}

fn times_logarithm(editor: &mut Editor, call: &Call, name: &str) -> Rewritten {
    let ([left, right], output) = (operands(editor, call)?, call.output()?);
    let log = editor.apply(name, right)?;
    let product = editor.pair("mul", left, log)?;
    let none = editor.compare("eq.Scalar", left, Argument::Int(0))?;
    let zero = editor.number(Argument::Int(0), output.scalar_type)?;
    let product = editor.choose(none, zero, product, output.clone())?;
    let undefined = editor.test("isnan", right)?;
    Ok(vec![editor.choose(undefined, right, product, output)?])
}

/// `lerp(self, end, weight)` with a number: from the nearer end, like PyTorch.
pub fn interpolate(editor: &mut Editor, call: &Call) -> Rewritten {
    let Ok(weight) = call.number(2) else { return interpolate_by(editor, call) };
    let [start, end] = operands(editor, call)?;
    let difference = editor.pair("sub", end, start)?;
    let (from, name, part) = if weight.abs() < 0.5 { (start, "add", weight) } else { (end, "sub", 1.0 - weight) };
    let part = editor.times(difference, part)?;
    Ok(vec![editor.pair(name, from, part)?])
}

/// `lerp(self, end, weight)` with a tensor, or with a number that the program computes.
pub fn interpolate_by(editor: &mut Editor, call: &Call) -> Rewritten {
    let ([start, end], output) = (operands(editor, call)?, call.output()?);
    let weight = editor.operand(call.argument(2)?, output.scalar_type)?;
    let difference = editor.pair("sub", end, start)?;
    let forward = editor.pair("mul", weight, difference)?;
    let forward = editor.pair("add", start, forward)?;
    let rest = editor.times(weight, -1.0)?;
    let rest = editor.plus(rest, 1.0)?;
    let backward = editor.pair("mul", difference, rest)?;
    let backward = editor.pair("sub", end, backward)?;
    let size = editor.apply("abs", weight)?;
    let near = editor.compare("lt.Scalar", size, Argument::Float(0.5))?;
    Ok(vec![editor.choose(near, forward, backward, output)?])
}

/// `sinc(self)`: `sin(pi x) / (pi x)`, 1 at 0.
pub fn sinc(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let input = editor.convert(call.value(0)?, output.scalar_type)?;
    let angle = editor.times(input, std::f64::consts::PI)?;
    let sine = editor.apply("sin", angle)?;
    let ratio = editor.pair("div", sine, angle)?;
    let zero = editor.compare("eq.Scalar", input, Argument::Int(0))?;
    let one = editor.number(Argument::Int(1), output.scalar_type)?;
    Ok(vec![editor.choose(zero, one, ratio, output)?])
}

/// `special_entr(self)`: `-self * log(self)`, 0 at 0, negative infinity below.
pub fn entropy(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let input = editor.convert(call.value(0)?, output.scalar_type)?;
    let product = editor.combine("xlogy.Tensor", [input, input])?;
    let entropy = editor.apply("neg", product)?;
    let below = editor.compare("lt.Scalar", input, Argument::Int(0))?;
    let infinity = editor.number(Argument::Float(f64::NEG_INFINITY), output.scalar_type)?;
    Ok(vec![editor.choose(below, infinity, entropy, output)?])
}
