//! Element-wise kernels.

#[cfg(any(feature = "arithmetic", feature = "tables"))]
use et_core::Result;

#[cfg(feature = "tables")]
use crate::Table;
#[cfg(any(feature = "arithmetic", feature = "tables"))]
use crate::memory::Operands;
#[cfg(feature = "arithmetic")]
use crate::{Add, Multiply};

#[cfg(feature = "arithmetic")]
pub fn add(step: &Add, mut operands: Operands<'_, '_>) -> Result<()> {
    let left = operands.read::<i8>(step.left, step.count as usize)?;
    let right = operands.read::<i8>(step.right, step.period as usize)?;
    let output = operands.write::<i8>(step.output, step.count as usize)?;
    let sum = step.sum.prepare();
    let period = right.len().max(1);
    for (output, left) in output.chunks_mut(period).zip(left.chunks(period)) {
        sum.add(left, Some(right), output);
    }
    Ok(())
}

#[cfg(feature = "arithmetic")]
pub fn multiply(step: &Multiply, mut operands: Operands<'_, '_>) -> Result<()> {
    let left = operands.read::<i8>(step.left, step.count as usize)?;
    let right = operands.read::<i8>(step.right, step.period as usize)?;
    let output = operands.write::<i8>(step.output, step.count as usize)?;
    each(output, left, right, |left, right| {
        let (left, right) = (left.wrapping_sub(step.left_zero), right.wrapping_sub(step.right_zero));
        step.bounds.clamp(step.scale.apply(left.wrapping_mul(right)))
    });
    Ok(())
}

/// Computes every element; the right operand is repeated.
#[cfg(feature = "arithmetic")]
#[inline(always)]
fn each(output: &mut [i8], left: &[i8], right: &[i8], compute: impl Fn(i32, i32) -> i8) {
    let period = right.len().max(1);
    for (output, left) in output.chunks_mut(period).zip(left.chunks(period)) {
        for ((output, left), right) in output.iter_mut().zip(left).zip(right) {
            *output = compute(i32::from(*left), i32::from(*right));
        }
    }
}

#[cfg(feature = "tables")]
pub fn table(step: &Table, mut operands: Operands<'_, '_>) -> Result<()> {
    let input = operands.read::<i8>(step.input, step.count as usize)?;
    let output = operands.write::<i8>(step.output, step.count as usize)?;
    let table = operands.constant::<i8>(step.table, 256)?;
    for (output, input) in output.iter_mut().zip(input) {
        let place = (i32::from(*input) + 128) as usize;
        *output = table.get(place).copied().unwrap_or_default();
    }
    Ok(())
}
