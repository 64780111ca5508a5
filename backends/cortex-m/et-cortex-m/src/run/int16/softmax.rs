//! Softmax of rows, after TensorFlow Lite: exponentials and the inverse of their sum are tables.

use et_core::{Error, Result};

use super::table::{ENTRIES, look_up};
use crate::Softmax16;
use crate::memory::Operands;

pub fn softmax(step: &Softmax16, mut operands: Operands<'_, '_>) -> Result<()> {
    let count = step.rows.checked_mul(step.columns).ok_or(Error::InvalidProgram)? as usize;
    let input = operands.read::<i16>(step.input, count)?;
    let output = operands.write::<i16>(step.output, count)?;
    let exponentials = operands.constant::<i16>(step.exponentials, ENTRIES)?;
    let inverses = operands.constant::<i16>(step.inverses, ENTRIES)?;
    let columns = (step.columns as usize).max(1);
    let scale = step.scale.prepare();
    for (output, input) in output.chunks_exact_mut(columns).zip(input.chunks_exact(columns)) {
        let greatest = input.iter().copied().max().unwrap_or_default();
        let mut sum = 0_u32;
        for (exponential, element) in output.iter_mut().zip(input) {
            // Distances from -65535 to 0 are numbers from -10 to 0.
            let distance = scale.apply(i32::from(*element) - i32::from(greatest)).saturating_add(32_767);
            *exponential = look_up(exponentials, distance.clamp(-32_768, 32_767) as i16);
            sum = sum.wrapping_add(u32::from(exponential.cast_unsigned()));
        }
        let (inverse, shift) = inverse(sum, inverses);
        for exponential in output {
            let product = (i32::from(*exponential) * inverse).wrapping_add(1_i32.wrapping_shl(shift - 1));
            *exponential = product.wrapping_shr(shift).clamp(0, 32_767) as i16;
        }
    }
    Ok(())
}

/// The inverse of a sum with 15 fractional bits, and the shift of the products with the inverse.
fn inverse(sum: u32, inverses: &[i16]) -> (i32, u32) {
    // A sum of 2^31 or more does not occur: a row has fewer than 2^16 elements.
    let headroom = sum.leading_zeros().clamp(1, 30);
    let shifted = sum.wrapping_shl(headroom - 1).wrapping_add(1 << 13) >> 14;
    // The table has the inverse of 1 and the fraction, from -32768 on.
    let fraction = (shifted as i32 - ((1 << 15) + (1 << 16))).clamp(-32_768, 32_767);
    (i32::from(look_up(inverses, fraction as i16)), 31 - headroom)
}
