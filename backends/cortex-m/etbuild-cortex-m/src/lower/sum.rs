//! The rule of sums of int8 tensors.

use et_cortex_m::requantize::SUM_FRACTION;
use et_cortex_m::{Bounds, Multiplier, Sum};
use etbuild_backend::{Refusal, RefusalKind};

use etbuild_backend::int8::pattern::{QParams, no};

/// The rule of a sum of operands with these qparams and signs.
pub fn sum(operands: [QParams; 2], signs: [f64; 2], (result, bounds): (QParams, Bounds)) -> Result<Sum, Refusal> {
    let twice = 2.0 * operands[0].scale.max(operands[1].scale);
    let scale = Multiplier::of(twice / (f64::from(1 << SUM_FRACTION) * result.scale));
    if scale.shift > 0 {
        return Err(no(RefusalKind::Quantization, "the scales of operands and result differ too much"));
    }
    let [left, right] = operands;
    Ok(Sum {
        left_zero: left.zero,
        right_zero: right.zero,
        left_scale: Multiplier::of(signs[0] * left.scale / twice),
        right_scale: Multiplier::of(signs[1] * right.scale / twice),
        scale,
        bounds,
    })
}
