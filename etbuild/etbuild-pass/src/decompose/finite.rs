//! Infinities and NaN.

use et_core::ScalarType;
use etbuild_ir::{Argument, ValueId};

use crate::Reason;
use crate::edit::{Call, Editor, Rewritten};

/// `isfinite(self)`.
pub fn is_finite(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    if !editor.spec(input).scalar_type.is_float() {
        return super::create::filled(editor, call, Argument::Bool(true));
    }
    let size = editor.apply("abs", input)?;
    Ok(vec![editor.compare("lt.Scalar", size, Argument::Float(f64::INFINITY))?])
}

/// `nan_to_num(self, nan, posinf, neginf)`: by default 0 and the largest finite values of the type.
pub fn replace(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    if !output.scalar_type.is_float() {
        return Ok(vec![input]);
    }
    let most = largest(output.scalar_type);
    let mut value = input;
    for (index, infinity, default) in [(2, f64::INFINITY, most), (3, f64::NEG_INFINITY, -most)] {
        let mask = editor.compare("eq.Scalar", input, Argument::Float(infinity))?;
        value = instead(editor, mask, number(call, index, default)?, value)?;
    }
    let mask = editor.test("isnan", input)?;
    Ok(vec![instead(editor, mask, number(call, 1, 0.0)?, value)?])
}

fn number(call: &Call, index: usize, default: f64) -> Result<f64, Reason> {
    if *call.argument(index)? == Argument::None { Ok(default) } else { call.number(index) }
}

/// `value` with a number instead of the elements of a mask.
pub fn instead(editor: &mut Editor, mask: ValueId, number: f64, value: ValueId) -> Result<ValueId, Reason> {
    let output = editor.spec(value).clone();
    let number = editor.number(Argument::Float(number), output.scalar_type)?;
    editor.choose(mask, number, value, output)
}

fn largest(scalar_type: ScalarType) -> f64 {
    match scalar_type {
        ScalarType::Double => f64::MAX,
        ScalarType::Half => 65504.0,
        ScalarType::BFloat16 => f64::from(f32::from_bits(0x7f7f_0000)),
        _ => f64::from(f32::MAX),
    }
}

/// `fmax(self, other)` and `fmin(self, other)`: NaN only where both operands are NaN.
pub fn extremum(editor: &mut Editor, call: &Call) -> Rewritten {
    let output = call.output()?;
    let left = editor.convert(call.value(0)?, output.scalar_type)?;
    let right = editor.convert(call.value(1)?, output.scalar_type)?;
    let name = if call.operator.name() == "fmax" { "maximum.default" } else { "minimum.default" };
    let operands = [left, right].map(Argument::Value).to_vec();
    let mut value = editor.call(name, operands, output.clone())?;
    if output.scalar_type.is_float() {
        for (lacks, has) in [(left, right), (right, left)] {
            let mask = editor.test("isnan", lacks)?;
            value = editor.choose(mask, has, value, output.clone())?;
        }
    }
    Ok(vec![value])
}

/// `isclose(self, other, rtol, atol, equal_nan)`.
pub fn is_close(editor: &mut Editor, call: &Call) -> Rewritten {
    let (left, right, output) = (call.value(0)?, call.value(1)?, call.output()?);
    if editor.spec(left).scalar_type == ScalarType::Bool {
        return Ok(vec![editor.compare("eq.Tensor", left, Argument::Value(right))?]);
    }
    let is_float = editor.spec(left).scalar_type.is_float();
    // Products of integers and tolerances are computed in float32, like PyTorch.
    let scalar_type = if is_float { editor.spec(left).scalar_type } else { ScalarType::Float };
    let (left, right) = (editor.convert(left, scalar_type)?, editor.convert(right, scalar_type)?);
    let mut both_undefined = None;
    if is_float && call.flag(4)? {
        let pair = [editor.test("isnan", left)?, editor.test("isnan", right)?];
        both_undefined =
            Some(editor.call("logical_and.default", pair.map(Argument::Value).to_vec(), output.clone())?);
    }
    let equal = editor.compare("eq.Tensor", left, Argument::Value(right))?;
    let difference = editor.pair("sub", left, right)?;
    let difference = editor.apply("abs", difference)?;
    let finite = editor.compare("lt.Scalar", difference, Argument::Float(f64::INFINITY))?;
    let allowed = editor.apply("abs", right)?;
    let allowed = editor.times(allowed, call.number(2)?)?;
    let allowed = editor.plus(allowed, call.number(3)?)?;
    let near = editor.compare("le.Tensor", difference, Argument::Value(allowed))?;
    let near = editor.call("logical_and.default", [finite, near].map(Argument::Value).to_vec(), output.clone())?;
    let close = editor.call("logical_or.default", [equal, near].map(Argument::Value).to_vec(), output.clone())?;
    Ok(vec![match both_undefined {
        Some(both) => editor.call("logical_or.default", [close, both].map(Argument::Value).to_vec(), output)?,
        None => close,
    }])
}

/// `isposinf(self)` and `isneginf(self)`.
pub fn is_infinite_one_way(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    if !editor.spec(input).scalar_type.is_float() {
        return super::create::filled(editor, call, Argument::Bool(false));
    }
    let infinity = if call.operator.name() == "isposinf" { f64::INFINITY } else { f64::NEG_INFINITY };
    Ok(vec![editor.compare("eq.Scalar", input, Argument::Float(infinity))?])
}

/// `isreal(self)` of real numbers.
pub fn is_real(editor: &mut Editor, call: &Call) -> Rewritten {
    if editor.spec(call.value(0)?).scalar_type.is_complex() {
        return Err(Reason::Unsupported("`isreal` of complex numbers"));
    }
    super::create::filled(editor, call, Argument::Bool(true))
}
