//! Copies of rows.

use et_core::{Error, Result};

use crate::CopyRows;
use crate::memory::Operands;

pub fn run(step: &CopyRows, mut operands: Operands<'_, '_>) -> Result<()> {
    let [rows, bytes] = [step.rows, step.bytes].map(|size| size as usize);
    if rows == 0 || bytes == 0 {
        return Ok(());
    }
    let pitches = [step.input_pitch, step.output_pitch].map(|pitch| pitch as usize);
    let [from, to] = pitches.map(|pitch| extent(rows, bytes, pitch));
    let input = operands.read::<u8>(step.input, from?)?;
    let output = operands.write::<u8>(step.output, to?)?;
    for (from, to) in input.chunks(pitches[0].max(1)).zip(output.chunks_mut(pitches[1].max(1))) {
        to.iter_mut().zip(from.iter().take(bytes)).for_each(|(to, from)| *to = *from);
    }
    Ok(())
}

/// The bytes from the first of rows to the last one, which ends with its last byte.
fn extent(rows: usize, bytes: usize, pitch: usize) -> Result<usize> {
    let behind = pitch.checked_sub(bytes).ok_or(Error::InvalidProgram)?;
    rows.checked_mul(pitch).map(|all| all - behind).ok_or(Error::InvalidProgram)
}
