//! Functions as tables with interpolation.

#[cfg(feature = "int16-tables")]
use et_core::Result;

#[cfg(feature = "int16-tables")]
use crate::Table16;
#[cfg(feature = "int16-tables")]
use crate::memory::Operands;

/// Results in a table: of every 128th number, and of the one behind the last.
pub const ENTRIES: usize = 513;

/// The result of a number, after TensorFlow Lite: on the line between the neighbours in the table, rounded to nearest, halves up.
#[inline(always)]
pub fn look_up(table: &[i16], number: i16) -> i16 {
    let place = (256 + (i32::from(number) >> 7)) as usize;
    let entry = |place: usize| table.get(place).copied().map_or(0, i32::from);
    let (base, next) = (entry(place), entry(place + 1));
    let slope = i32::from((next - base) as i16);
    (base + ((slope * i32::from(number & 127) + 64) >> 7)) as i16
}

#[cfg(feature = "int16-tables")]
pub fn table(step: &Table16, mut operands: Operands<'_, '_>) -> Result<()> {
    let input = operands.read::<i16>(step.input, step.count as usize)?;
    let output = operands.write::<i16>(step.output, step.count as usize)?;
    let table = operands.constant::<i16>(step.table, ENTRIES)?;
    for (output, input) in output.iter_mut().zip(input) {
        *output = look_up(table, *input);
    }
    Ok(())
}
