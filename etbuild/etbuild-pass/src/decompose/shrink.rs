//! Piecewise elementwise activations.

use etbuild_ir::Argument;

use crate::edit::{Call, Editor, Rewritten};

/// The constants of self-normalizing networks (Klambauer et al. 2017).
const SELU: (f64, f64) = (1.673_263_242_354_377_2, 1.050_700_987_355_480_5);

/// `threshold(self, threshold, value)`: replaces elements up to the threshold; NaN stays.
pub fn threshold(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let below = editor.compare("le.Scalar", input, call.argument(1)?.clone())?;
    let value = editor.number(call.argument(2)?.clone(), output.scalar_type)?;
    Ok(vec![editor.choose(below, value, input, output)?])
}

/// `selu(self)`.
pub fn selu(editor: &mut Editor, call: &Call) -> Rewritten {
    let settings = [SELU.0, SELU.1, 1.0].map(Argument::Float).to_vec();
    Ok(vec![editor.map("elu.default", call.value(0)?, settings)?])
}

/// `celu(self, alpha)`: `elu` with the exponent scaled by `1 / alpha`.
pub fn celu(editor: &mut Editor, call: &Call) -> Rewritten {
    let alpha = call.number(1)?;
    let settings = [alpha, 1.0, 1.0 / alpha].map(Argument::Float).to_vec();
    Ok(vec![editor.map("elu.default", call.value(0)?, settings)?])
}

/// `hardshrink(self, lambd)`: 0 between `-lambd` and `lambd`.
pub fn hardshrink(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, output) = (call.value(0)?, call.output()?);
    let size = editor.apply("abs", input)?;
    let small = editor.compare("le.Scalar", size, call.argument(1)?.clone())?;
    let zero = editor.number(Argument::Int(0), output.scalar_type)?;
    Ok(vec![editor.choose(small, zero, input, output)?])
}

/// `softshrink(self, lambd)`: moves elements by `lambd` towards 0, and clips at 0.
pub fn softshrink(editor: &mut Editor, call: &Call) -> Rewritten {
    let (input, bound) = (call.value(0)?, call.number(1)?);
    let middle = editor.map("clamp.default", input, [-bound, bound].map(Argument::Float).to_vec())?;
    Ok(vec![editor.pair("sub", input, middle)?])
}
