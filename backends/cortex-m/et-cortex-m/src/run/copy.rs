//! Copies of rows.

use et_core::{Error, Result};

use crate::CopyRows;
use crate::memory::Operands;

pub fn run(step: &CopyRows, mut operands: Operands<'_, '_>) -> Result<()> {
    let [rows, bytes, pitch] = [step.rows, step.bytes, step.pitch].map(|size| size as usize);
    let behind = pitch.checked_sub(bytes).ok_or(Error::InvalidProgram)?;
    let size = |row: usize| rows.checked_mul(row).ok_or(Error::InvalidProgram);
    if rows == 0 || bytes == 0 {
        return Ok(());
    }
    // The last row ends with its last byte.
    let (input, output) = (size(bytes)?, size(pitch)? - behind);
    let input = operands.read::<u8>(step.input, input)?;
    let output = operands.write::<u8>(step.output, output)?;
    for (from, to) in input.chunks_exact(bytes).zip(output.chunks_mut(pitch)) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
    Ok(())
}
