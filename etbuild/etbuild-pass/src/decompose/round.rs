//! Rounding to decimals, fractions and signs.

use etbuild_ir::Argument;

use crate::edit::{Call, Editor, Rewritten};

/// `round(self, decimals)`: scales by an exact power of ten, like PyTorch.
pub fn decimals(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, places) = (call.value(0)?, call.int(1)?);
    if places == 0 || !call.output()?.scalar_type.is_float() {
        return Ok(vec![editor.apply("round", input)?]);
    }
    let power = 10_f64.powi(i32::try_from(places.unsigned_abs()).unwrap_or(i32::MAX));
    let (there, back) = if places > 0 { ("mul.Scalar", "div.Scalar") } else { ("div.Scalar", "mul.Scalar") };
    let scaled = editor.map(there, input, vec![Argument::Float(power)])?;
    let rounded = editor.apply("round", scaled)?;
    Ok(vec![editor.map(back, rounded, vec![Argument::Float(power)])?])
}

/// `frac(self)`: `self - trunc(self)`.
pub fn fraction(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    let whole = editor.apply("trunc", input)?;
    Ok(vec![editor.pair("sub", input, whole)?])
}

/// `signbit(self)`: negative elements and negative zero.
pub fn sign_bit(editor: &mut Editor, call: &Call) -> Rewritten {
    let input = call.value(0)?;
    Ok(vec![negative(editor, input)?])
}

/// `copysign(self, other)`.
pub fn copy_sign(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (editor.convert(call.value(0)?, call.output()?.scalar_type)?, call.output()?);
    let size = editor.apply("abs", input)?;
    let opposite = editor.apply("neg", size)?;
    let mask = negative(editor, call.value(1)?)?;
    Ok(vec![editor.choose(mask, opposite, size, output)?])
}

fn negative(editor: &mut Editor, of: etbuild_ir::ValueId) -> Result<etbuild_ir::ValueId, crate::Reason> {
    let below = editor.compare("lt.Scalar", of, Argument::Int(0))?;
    if !editor.spec(of).scalar_type.is_float() {
        return Ok(below);
    }
    let inverse = editor.apply("reciprocal", of)?;
    let inverse_below = editor.compare("lt.Scalar", inverse, Argument::Int(0))?;
    let output = editor.spec(below).clone();
    editor.call("logical_or.default", [below, inverse_below].map(Argument::Value).to_vec(), output)
}

/// `deg2rad(self)`.
pub fn to_radians(editor: &mut Editor, call: &Call) -> Rewritten {
    scaled(editor, call, std::f64::consts::PI / 180.0)
}

/// `rad2deg(self)`.
pub fn to_degrees(editor: &mut Editor, call: &Call) -> Rewritten {
    scaled(editor, call, 180.0 / std::f64::consts::PI)
}

fn scaled(editor: &mut Editor, call: &Call, factor: f64) -> Rewritten {
    let input = editor.convert(call.value(0)?, call.output()?.scalar_type)?;
    Ok(vec![editor.times(input, factor)?])
}
