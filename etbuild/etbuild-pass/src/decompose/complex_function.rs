//! Functions of complex tensors, in terms of functions of their real and imaginary parts.

use etbuild_ir::{Argument, TensorSpec, ValueId};

use super::complex::{joined, separated};
use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

type Made = Result<ValueId, Reason>;
type Function = fn(&mut Editor, ValueId) -> Made;

/// The functions of a complex tensor with a complex result, in the order of names.
const FUNCTIONS: &[(&str, Function)] = &[
    ("cos", cosine),
    ("cosh", hyperbolic_cosine),
    ("expm1", exponential_minus_one),
    ("log", logarithm),
    ("log10", |editor, of| logarithm_of_base(editor, of, std::f64::consts::LN_10)),
    ("log1p", logarithm_of_next),
    ("log2", |editor, of| logarithm_of_base(editor, of, std::f64::consts::LN_2)),
    ("reciprocal", reciprocal),
    ("rsqrt", reciprocal_root),
    ("sigmoid", sigmoid),
    ("sin", sine),
    ("sinh", hyperbolic_sine),
    ("sqrt", root),
    ("tan", tangent),
    ("tanh", hyperbolic_tangent),
];

/// The magnitude above which `tanh` is 1 in double precision. The square of its `sinh` is finite in single precision.
const SATURATED: f64 = 44.0;

/// A function of [`FUNCTIONS`]; keeps calls with real results.
pub fn function(editor: &mut Editor, call: &Call) -> Rewritten {
    if !call.output()?.scalar_type.is_complex() {
        return Ok(editor.keep(call.clone()));
    }
    let found = FUNCTIONS.iter().find(|(name, _)| *name == call.operator.name());
    let (_, function) = found.ok_or(Reason::NoKernel)?;
    Ok(vec![function(editor, call.value(0)?)?])
}

/// `sgn(self)`: the direction of a complex number, and the sign of a real number.
pub fn sign(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let is_complex = editor.spec(input).scalar_type.is_complex();
    Ok(vec![if is_complex { direction(editor, input)? } else { editor.apply("sign", input)? }])
}

/// `pow(self, exponent)`: small whole exponents by products, others by `exp(exponent * log(self))`.
pub fn power(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    if !output.scalar_type.is_complex() {
        return Ok(editor.keep(call.clone()));
    }
    if let Ok(exponent) = call.number(1) {
        let base = call.value(0)?;
        if exponent.fract() == 0.0 && (1.0..=8.0).contains(&exponent.abs()) {
            let made = (1..exponent.abs() as i64).try_fold(base, |made, _| editor.pair("mul", made, base))?;
            return Ok(vec![if exponent < 0.0 { reciprocal(editor, made)? } else { made }]);
        }
        if exponent == 0.5 {
            return Ok(vec![root(editor, base)?]);
        }
    }
    let base = complex_operand(editor, call.argument(0)?, &output)?;
    let exponent = complex_operand(editor, call.argument(1)?, &output)?;
    let log = logarithm(editor, base)?;
    let scaled = editor.pair("mul", exponent, log)?;
    let made = editor.apply("exp", scaled)?;
    // Powers of 0: 1 for an exponent of 0, else 0.
    let zero = editor.number(Argument::Int(0), output.scalar_type)?;
    let is_zero = |editor: &mut Editor, of: ValueId| editor.compare("eq.Tensor", of, Argument::Value(zero));
    let (of_zero, to_zero) = (is_zero(editor, base)?, is_zero(editor, exponent)?);
    let degenerate = editor.convert(to_zero, output.scalar_type)?;
    Ok(vec![editor.choose(of_zero, degenerate, made, output)?])
}

fn complex_operand(editor: &mut Editor, argument: &Argument, output: &TensorSpec) -> Made {
    let value = editor.operand(argument, output.scalar_type)?;
    editor.convert(value, output.scalar_type)
}

/// Computes with both parts of a complex value.
fn with_parts(
    editor: &mut Editor,
    of: ValueId,
    compute: impl FnOnce(&mut Editor, ValueId, ValueId) -> Result<[ValueId; 2], Reason>,
) -> Made {
    let [real, imaginary] = separated(editor, &Argument::Value(of))?;
    let parts = compute(editor, real, imaginary)?;
    let output = editor.spec(of).clone();
    joined(editor, parts, output)
}

fn reciprocal(editor: &mut Editor, of: ValueId) -> Made {
    let output = editor.spec(of).clone();
    editor.call("div.Tensor", vec![Argument::Float(1.0), Argument::Value(of)], output)
}

fn length(editor: &mut Editor, real: ValueId, imaginary: ValueId) -> Made {
    editor.combine("hypot.default", [real, imaginary])
}

/// The square root: the larger part of the result is `sqrt((|real| + length) / 2)`, and the smaller part is half of the imaginary part divided
/// by the larger part.
fn root(editor: &mut Editor, of: ValueId) -> Made {
    with_parts(editor, of, |editor, real, imaginary| {
        let (size, length) = (editor.apply("abs", real)?, length(editor, real, imaginary)?);
        let sum = editor.pair("add", size, length)?;
        let half = editor.times(sum, 0.5)?;
        let long = editor.apply("sqrt", half)?;
        let double = editor.times(long, 2.0)?;
        let short = editor.pair("div", imaginary, double)?;
        let none = editor.compare("eq.Scalar", long, Argument::Int(0))?;
        let spec = editor.spec(long).clone();
        let short = editor.choose(none, imaginary, short, spec.clone())?;
        let right = editor.compare("ge.Scalar", real, Argument::Int(0))?;
        let turned = [editor.apply("abs", short)?, editor.combine("copysign.Tensor", [long, imaginary])?];
        Ok([editor.choose(right, long, turned[0], spec.clone())?, editor.choose(right, short, turned[1], spec)?])
    })
}

fn reciprocal_root(editor: &mut Editor, of: ValueId) -> Made {
    let root = root(editor, of)?;
    reciprocal(editor, root)
}

fn logarithm(editor: &mut Editor, of: ValueId) -> Made {
    with_parts(editor, of, |editor, real, imaginary| {
        let length = length(editor, real, imaginary)?;
        Ok([editor.apply("log", length)?, editor.combine("atan2.default", [imaginary, real])?])
    })
}

fn logarithm_of_base(editor: &mut Editor, of: ValueId, log_of_base: f64) -> Made {
    let natural = logarithm(editor, of)?;
    editor.times(natural, 1.0 / log_of_base)
}

/// `log(1 + of)`: the length of `1 + of` is 1 plus a small number near 0.
fn logarithm_of_next(editor: &mut Editor, of: ValueId) -> Made {
    with_parts(editor, of, |editor, real, imaginary| {
        let next = editor.plus(real, 1.0)?;
        let double = editor.plus(real, 2.0)?;
        let square = editor.pair("mul", imaginary, imaginary)?;
        let rest = editor.pair("mul", real, double)?;
        let rest = editor.pair("add", rest, square)?;
        let log = editor.apply("log1p", rest)?;
        Ok([editor.times(log, 0.5)?, editor.combine("atan2.default", [imaginary, next])?])
    })
}

fn exponential_minus_one(editor: &mut Editor, of: ValueId) -> Made {
    let power = editor.apply("exp", of)?;
    editor.plus(power, -1.0)
}

fn sigmoid(editor: &mut Editor, of: ValueId) -> Made {
    let negated = editor.apply("neg", of)?;
    let power = editor.apply("exp", negated)?;
    let next = editor.plus(power, 1.0)?;
    reciprocal(editor, next)
}

/// The number divided by its length; 0 stays.
fn direction(editor: &mut Editor, of: ValueId) -> Made {
    with_parts(editor, of, |editor, real, imaginary| {
        let length = length(editor, real, imaginary)?;
        let none = editor.compare("eq.Scalar", length, Argument::Int(0))?;
        let one = editor.number(Argument::Int(1), editor.spec(length).scalar_type)?;
        let spec = editor.spec(length).clone();
        let length = editor.choose(none, one, length, spec)?;
        Ok([editor.pair("div", real, length)?, editor.pair("div", imaginary, length)?])
    })
}

fn sine(editor: &mut Editor, of: ValueId) -> Made {
    with_parts(editor, of, |editor, real, imaginary| {
        Ok([of_both(editor, ("sin", real), ("cosh", imaginary))?, of_both(editor, ("cos", real), ("sinh", imaginary))?])
    })
}

fn cosine(editor: &mut Editor, of: ValueId) -> Made {
    with_parts(editor, of, |editor, real, imaginary| {
        let across = of_both(editor, ("sin", real), ("sinh", imaginary))?;
        Ok([of_both(editor, ("cos", real), ("cosh", imaginary))?, editor.apply("neg", across)?])
    })
}

fn hyperbolic_sine(editor: &mut Editor, of: ValueId) -> Made {
    with_parts(editor, of, |editor, real, imaginary| {
        Ok([of_both(editor, ("sinh", real), ("cos", imaginary))?, of_both(editor, ("cosh", real), ("sin", imaginary))?])
    })
}

fn hyperbolic_cosine(editor: &mut Editor, of: ValueId) -> Made {
    with_parts(editor, of, |editor, real, imaginary| {
        Ok([of_both(editor, ("cosh", real), ("cos", imaginary))?, of_both(editor, ("sinh", real), ("sin", imaginary))?])
    })
}

/// The product of functions of two values.
fn of_both(editor: &mut Editor, (first, one): (&str, ValueId), (second, other): (&str, ValueId)) -> Made {
    let (one, other) = (editor.apply(first, one)?, editor.apply(second, other)?);
    editor.pair("mul", one, other)
}

fn hyperbolic_tangent(editor: &mut Editor, of: ValueId) -> Made {
    with_parts(editor, of, tanh_of_parts)
}

/// `tan(z)` is `-i tanh(iz)`.
fn tangent(editor: &mut Editor, of: ValueId) -> Made {
    with_parts(editor, of, |editor, real, imaginary| {
        let turned = editor.apply("neg", imaginary)?;
        let [along, across] = tanh_of_parts(editor, turned, real)?;
        Ok([across, editor.apply("neg", along)?])
    })
}

/// `(sinh x cosh x + i sin y cos y) / (cos(y)^2 + sinh(x)^2)`.
fn tanh_of_parts(editor: &mut Editor, real: ValueId, imaginary: ValueId) -> Result<[ValueId; 2], Reason> {
    let bounds = vec![Argument::Float(-SATURATED), Argument::Float(SATURATED)];
    let real = editor.map("clamp.default", real, bounds)?;
    let (sinh, cos) = (editor.apply("sinh", real)?, editor.apply("cos", imaginary)?);
    let squares = [editor.pair("mul", sinh, sinh)?, editor.pair("mul", cos, cos)?];
    let divisor = editor.pair("add", squares[0], squares[1])?;
    let along = of_both(editor, ("sinh", real), ("cosh", real))?;
    let across = of_both(editor, ("sin", imaginary), ("cos", imaginary))?;
    Ok([editor.pair("div", along, divisor)?, editor.pair("div", across, divisor)?])
}
