//! Softmax of rows.

use et_core::Result;

use crate::Softmax;
use crate::memory::Operands;

pub fn run(step: &Softmax, mut operands: Operands<'_, '_>) -> Result<()> {
    let count = step.rows.checked_mul(step.columns).ok_or(et_core::Error::InvalidProgram)? as usize;
    let input = operands.read::<i8>(step.input, count)?;
    let output = operands.write::<i8>(step.output, count)?;
    let exponentials = operands.constant::<u32>(step.exponentials, 256)?;
    let columns = (step.columns as usize).max(1);
    for (output, input) in output.chunks_exact_mut(columns).zip(input.chunks_exact(columns)) {
        let greatest = input.iter().copied().max().unwrap_or_default();
        let exponential = |element: i8| {
            let distance = (i32::from(greatest) - i32::from(element)) as usize;
            u64::from(exponentials.get(distance).copied().unwrap_or_default())
        };
        let sum: u64 = input.iter().map(|element| exponential(*element)).sum::<u64>().max(1);
        for (output, input) in output.iter_mut().zip(input) {
            // Rounded to nearest, halves up: a probability is not negative.
            let steps = (exponential(*input) * u64::from(step.steps) + sum / 2) / sum;
            *output = (steps as i32).wrapping_add(step.zero).clamp(-128, 127) as i8;
        }
    }
    Ok(())
}
