//! Dropout: the identity at inference, random in training mode.

use et_core::ScalarType;
use etbuild_ir::{Argument, ValueId};

use super::random::drawn;
use crate::Reason;
use crate::edit::{Call, Dim, Editor, Rewritten};

/// What an element becomes that alpha dropout drops.
const DROPPED: f64 = -1.758_099_340_847_376_6;

/// `dropout(input, p, train)`, and of whole channels `feature_dropout`.
pub fn dropout(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, probability) = (call.value(0)?, call.number(1)?);
    if !call.flag(2)? || probability == 0.0 {
        return Ok(vec![input]);
    }
    if probability == 1.0 {
        return Ok(vec![editor.times(input, 0.0)?]);
    }
    let factor = kept(editor, call, probability)?;
    let factor = editor.times(factor, 1.0 / (1.0 - probability))?;
    Ok(vec![editor.pair("mul", input, factor)?])
}

/// `alpha_dropout(input, p, train)` and `feature_alpha_dropout`: mean and variance stay.
pub fn alpha(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, probability) = (call.value(0)?, call.number(1)?);
    if !call.flag(2)? || probability == 0.0 {
        return Ok(vec![input]);
    }
    if probability == 1.0 {
        return Ok(vec![editor.times(input, 0.0)?]);
    }
    let scale = ((DROPPED * DROPPED * probability + 1.0) * (1.0 - probability)).sqrt().recip();
    let kept = kept(editor, call, probability)?;
    let factor = editor.times(kept, scale)?;
    let passed = editor.pair("mul", input, factor)?;
    // The dropped value where an element is dropped, less its mean everywhere.
    let dropped = editor.times(kept, -DROPPED * scale)?;
    let dropped = editor.plus(dropped, DROPPED * scale * (1.0 - probability))?;
    Ok(vec![editor.pair("add", passed, dropped)?])
}

/// `native_dropout(input, p, train)`: with the mask of the elements that stay.
pub fn with_mask(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, probability) = (call.value(0)?, call.number(1)?);
    let dims = editor.dims(input);
    let is_training = *call.argument(2)? == Argument::None || call.flag(2)?;
    let probability = if is_training { probability } else { 0.0 };
    let fractions = drawn(editor, "rand.default", &dims, ScalarType::Float)?;
    let mask = editor.compare("ge.Scalar", fractions, Argument::Float(probability))?;
    let factor = editor.convert(mask, editor.spec(input).scalar_type)?;
    let factor = if probability < 1.0 { editor.times(factor, 1.0 / (1.0 - probability))? } else { factor };
    Ok(vec![editor.pair("mul", input, factor)?, mask])
}

/// `rrelu(self, lower, upper, training, ...)`: a leaky `relu`, at inference with the mean slope.
pub fn rrelu(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output, lower, upper) = (call.value(0)?, call.output()?, call.number(1)?, call.number(2)?);
    if !call.flag(3)? {
        let slope = f64::midpoint(lower, upper);
        return Ok(vec![editor.map("leaky_relu.default", input, vec![Argument::Float(slope)])?]);
    }
    let dims = editor.dims(input);
    let fractions = drawn(editor, "rand.default", &dims, output.scalar_type)?;
    let slopes = editor.times(fractions, upper - lower)?;
    let slopes = editor.plus(slopes, lower)?;
    let leaked = editor.pair("mul", input, slopes)?;
    let is_low = editor.compare("le.Scalar", input, Argument::Int(0))?;
    Ok(vec![editor.choose(is_low, leaked, input, output)?])
}

/// 1 for each element, or each channel, that stays, and 0 for the rest.
fn kept(editor: &mut Editor, call: &Call, probability: f64) -> Result<ValueId, Reason> {
    let (input, mut dims) = (call.value(0)?, editor.dims(call.value(0)?));
    if call.operator.name().starts_with("feature_") {
        dims.iter_mut().skip(2).for_each(|dim| *dim = Dim::from(1));
    }
    let fractions = drawn(editor, "rand.default", &dims, ScalarType::Float)?;
    let mask = editor.compare("ge.Scalar", fractions, Argument::Float(probability))?;
    editor.convert(mask, editor.spec(input).scalar_type)
}
