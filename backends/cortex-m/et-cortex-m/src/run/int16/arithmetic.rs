//! Sums and products of two tensors.

use et_core::Result;

use crate::memory::Operands;
use crate::requantize::SUM_FRACTION_16;
use crate::{Add16, Multiplier, Multiply16, Place};

pub fn add(step: &Add16, operands: Operands<'_, '_>) -> Result<()> {
    let [left_factor, right_factor, factor] =
        [step.sum.left_scale, step.sum.right_scale, step.sum.scale].map(Multiplier::prepare);
    let bounds = step.sum.bounds;
    each([step.left, step.right, step.output], [step.count, step.period], operands, |left, right| {
        let left = left_factor.apply(left.wrapping_shl(SUM_FRACTION_16));
        let right = right_factor.apply(right.wrapping_shl(SUM_FRACTION_16));
        factor.apply(left.wrapping_add(right)).min(bounds.most).max(bounds.least) as i16
    })
}

pub fn multiply(step: &Multiply16, operands: Operands<'_, '_>) -> Result<()> {
    let factor = step.scale.prepare();
    each([step.left, step.right, step.output], [step.count, step.period], operands, |left, right| {
        step.limits.clamp(factor.apply(left.wrapping_mul(right)))
    })
}

/// Computes every element; the right operand is repeated.
#[inline(always)]
fn each(
    [left, right, output]: [Place; 3],
    [count, period]: [u32; 2],
    mut operands: Operands<'_, '_>,
    compute: impl Fn(i32, i32) -> i16,
) -> Result<()> {
    let left = operands.read::<i16>(left, count as usize)?;
    let right = operands.read::<i16>(right, period as usize)?;
    let output = operands.write::<i16>(output, count as usize)?;
    let period = right.len().max(1);
    for (output, left) in output.chunks_mut(period).zip(left.chunks(period)) {
        for ((output, left), right) in output.iter_mut().zip(left).zip(right) {
            *output = compute(i32::from(*left), i32::from(*right));
        }
    }
    Ok(())
}
